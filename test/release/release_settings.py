# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of releases from values by the names of options, as nodes and commands make them."""
from symdp_ros import ReleaseSettings
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.release.settings import WritingSettings
from symdp_ros.settings import settings_of
from symdp_ros.words.sampling_settings import SamplingSettings


def release_settings(chain, privacy, *, archive=None, locator=None, **values):
    """Return settings; what is left out has its default."""
    values = {'mechanism': 'auto', 'sampling': 'message', **values}
    return ReleaseSettings(
        chain, privacy, MechanismSettings.of(values), SamplingSettings.of(values),
        InputSettings.of(values), settings_of(WritingSettings, values), locator, archive)

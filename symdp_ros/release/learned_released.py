# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A chain learned from released routes, as a chain file: it costs nothing, and knows no subject.

A released route says neither its ε nor its mechanism: the settings are those that all routes were
released with. If they are wrong, the chain is a worse one, and reveals nothing for that.
"""
from pathlib import Path

import numpy as np
from symdp_ros.analysis.learning_released import learn_released, Released
from symdp_ros.core.annotations import Ints
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.errors import LogError, printable
from symdp_ros.files.durable import check_new, write_new_file
from symdp_ros.logs import list_releases, LogFile, read_log
from symdp_ros.release.learned import chain_file
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.settings import ReleaseSettings
from symdp_ros.words import stamps


def learn_from_releases(settings: ReleaseSettings, directory: str | Path,
                        output: Path) -> tuple[int, int]:
    """
    Learn a chain from the releases in a directory, and put the chain file at `output`.

    :param settings: those of the releases; the chain is the map that they were made with. Of
        reading, topic and field, the keys and `symbol_map` count.
    :param output: a path that is free.
    :return: how many routes there were, and how many symbols.
    :raises LogError: there is no release; a file is none, cannot be read, has symbols that are
        further apart than the period, or makes moves that the map does not allow.
    :raises ChainError, ConfigurationError: there is nothing to learn on this chain or from this
        mechanism; `output` is not free.
    """
    settings.check()
    check_new(output)
    routes = [_route(settings, release) for release in list_releases(directory)]
    if not routes:
        raise LogError('there is no release', path=directory)
    mechanisms, by_mechanism = Mechanisms(settings), dict[OfflineMechanism, list[Ints]]()
    for route in routes:
        by_mechanism.setdefault(mechanisms.for_length(
            len(route), settings.privacy_for(len(route))), []).append(route)
    chain = learn_released(settings.chain, [Released(*some) for some in by_mechanism.items()])
    write_new_file(output, _text(chain, settings, len(routes)))
    return len(routes), sum(map(len, routes))


def _route(settings: ReleaseSettings, release: LogFile) -> Ints:
    """Return the positions of the states of a released route."""
    chain, read = settings.chain, settings.input
    entries = read_log(release.path, topic=read.topic, field=read.field, stamp_key=read.stamp_key,
                       symbol_key=read.symbol_key, naming=read.table(chain.states))
    ticks = stamps.from_seconds(settings.sampling.seconds, 'period')
    if [stamp for stamp, _ in entries] != [ticks * i for i in range(len(entries))]:
        raise LogError('it is no release with this sampling and period: its symbols are not '
                       f'{ticks / 10**9:g} s apart, from 0', path=release.path)
    positions = settings.states_by_value()
    others = {value for _, value in entries if value not in positions}
    if others:
        raise LogError(f'{printable(str(min(map(str, others))))} is no state of the map: name the '
                       'map that it was released with', path=release.path)
    route = np.array([positions[value] for _, value in entries if value is not None])
    if not chain.is_feasible([chain.states[i] for i in route.tolist()]):
        raise LogError('it makes moves that the map does not allow: give the map and the settings '
                       'that it was released with', path=release.path)
    return route


def _text(chain: Chain, settings: ReleaseSettings, routes: int) -> str:
    privacy = settings.privacy
    return chain_file(chain, settings, [
        'Learned by `symdp learn --released` from private routes alone: it costs no ε, and',
        'reveals nothing that they do not. It is charged to no subject.',
        f'Routes: {routes}, released with ε = {privacy.epsilon:g}, k = {privacy.adjacency}, '
        f'{settings.mechanism.text(settings.chain)}.'])

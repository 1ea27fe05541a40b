# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What can be chosen, by name; what computes it is imported when it is first made."""

POLICIES = ('paper', 'guided', 'planned', 'adaptive')
DEFAULT_POLICY = 'guided'  # everywhere: library, nodes and command line
DEFAULT_TRUST = 0.8        # the weight of the chain's P (`core.models`)
BASES = ('chain', 'counting')  # of the selection exponential (`core.models`)
DEFAULT_BASE = 'chain'
#: Those that know how the robot moves: `trust` counts (`core.models`).
BY_MODELS = ('planned', 'adaptive')
#: Those that run compiled loops.
COMPILED_POLICIES = ('planned', 'adaptive')

#: Every mechanism of whole words → the settings that it uses, of base, trust and policy. Its
#: module is `core.offline.NAME`, in which `law` makes its `core.law.Law`.
SELECTIONS: dict[str, tuple[str, ...]] = {
    'exponential': ('base', 'trust'),
    'permute_and_flip': (),
    'causal': ('policy', 'trust'),
}
#: What can be compared, by name → selection and base.
CHOICES = {selection if base == DEFAULT_BASE else f'{selection}, {base}': (selection, base)
           for selection, used in SELECTIONS.items()
           for base in (BASES if 'base' in used else (DEFAULT_BASE,))}
#: Those that look at the whole word: the others err as the online mechanism does.
WHOLE_WORD = tuple(name for name, (selection, _) in CHOICES.items()
                   if 'policy' not in SELECTIONS[selection])

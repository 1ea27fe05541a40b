# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Every option, declared once: parameters of nodes, arguments of `symdp` and of launch files.

Nothing here needs ROS or anything that computes. `docs/parameters.md` is compared with it by a
test, and so are the choices that other modules define.
"""
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

from symdp_ros.core.registry import (AUTO, BASES, check_gone, DEFAULT_LEARN, DEFAULT_TRUST, LEARNT,
                                     POLICIES, SELECTIONS)
from symdp_ros.errors import ChainError, ConfigurationError, printable
from symdp_ros.words import rules as sampling_rules

LARGEST_INTEGER = 2**62

_KINDS = {float: 'a number', int: 'an integer', bool: 'true or false', str: 'a string',
          list: 'a list of strings, such as [dock, "8"]'}
_ACCEPTED: dict[type, tuple[type, ...]] = {
    float: (float, int), int: (int,), bool: (bool,), str: (str, int), list: (Sequence,)}
_BOOLEANS = {'true': True, 'false': False}


@dataclass(frozen=True)
class Option:
    """
    One option.

    :param kind: float, int, bool, str, or list for a list of strings.
    :param default: None: the option is required. '': it is not set.
    :param least: of a number, the smallest value allowed; `most`: the largest.
    :param choices: of a string, the values allowed; of a list, those of each entry.
    :param unit: of a number, such as 'seconds'; otherwise what the value is, such as 'file'.
    """

    name: str
    kind: type
    default: object
    meaning: str
    least: float = -inf
    most: float = inf
    choices: tuple[str, ...] = ()
    unit: str = ''

    @property
    def description(self) -> str:
        """Return the meaning, with the unit of a number."""
        return f'{self.meaning} [{self.unit}]' if self.unit and self.kind in (float, int) \
            else self.meaning

    def check(self, value: object) -> Any:
        """
        Return the value in the option's own type: numbers accept integers, strings accept both.

        :raises ConfigurationError: the value has another type, or is out of range.
        """
        wrong = (not isinstance(value, _ACCEPTED[self.kind])
                 or isinstance(value, bool) and self.kind is not bool
                 or self.kind is list and not _all_strings(value))
        if wrong:
            shown = f'the string {value!r}' if isinstance(value, str) else repr(value)
            self._refuse(printable(shown), _KINDS[self.kind])
        result: Any = self.kind(value)
        if self.kind is float and not isfinite(result):
            self._refuse(result, 'a finite number')
        if self.kind in (float, int):
            most = min(self.most, LARGEST_INTEGER) if self.kind is int else self.most
            if not self.least <= result:
                self._refuse(result, f'at least {self.least:g}')
            if not result <= most:
                self._refuse(result, f'at most {most:g}')
        for item in result if self.kind is list else [result]:
            if self.choices and item not in (*self.choices, self.default):
                check_gone(self.name, item)
                self._refuse(printable(repr(item)), 'one of ' + ', '.join(self.choices))
        return result

    def parse(self, text: str) -> Any:
        """
        Return the value that a text names; a list is one of YAML.

        :raises ConfigurationError: as `check`.
        """
        from symdp_ros.files.yaml_reader import yaml_value

        try:
            value = (yaml_value(text, self.name) if self.kind is list else
                     _BOOLEANS[text.lower()] if self.kind is bool else self.kind(text))
        except (KeyError, ValueError, ChainError):
            value = text
        return self.check(value)

    def _refuse(self, shown: object, needed: str) -> None:
        verb, it = ('names', 'each') if needed[:6] == 'one of' and self.kind is list else (
            'is', 'it')
        raise ConfigurationError(f'{self.name} {verb} {shown}: {it} must be {needed}',
                                 setting=self.name)


def _all_strings(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and all(isinstance(item, str) for item in value)


# The map

CHAIN_FILE = Option(
    'chain_file', str, None,
    'the map: a chain file, regions file, Open-RMF building map or navigation graph, LCAS or '
    'STRANDS topological map, Nav2 route graph, VDMA layout (LIF) or patrolling_sim graph; a '
    'path or package://PACKAGE/PATH', unit='file')
INITIAL_STATE = Option(
    'initial_state', str, '',
    'the public state before the first symbol of every word: the first symbol is a move from it. '
    'Needed where the file names none, and used instead of the one that it names', unit='state')
SELF_LOOPS = Option('self_loops', bool, False, 'every state can also follow itself (staying)')
GRAPH = Option('graph', int, -1,
               'number of the graph (graph_idx) in a building map that holds several; -1: the '
               'only one', least=-1)
LEVEL = Option('level', str, '',
               'one floor of a building map; if not set: all floors, joined by lifts', unit='name')
PRUNE = Option('prune', bool, False, 'leave out states from which no move leads on')
CHAIN = (CHAIN_FILE, INITIAL_STATE, SELF_LOOPS, GRAPH, LEVEL, PRUNE)

# Privacy

EPSILON = Option('epsilon', float, None,
                 'ε, at least 0, for a whole word: smaller is more private', least=0)
ADJACENCY = Option('adjacency', int, 0,
                   'for those who count symbols, instead of protect. k: ε limits how well two '
                   'words that differ in up to k symbols can be told apart; 0: not set', least=0,
                   unit='symbols')
PRIVACY = (EPSILON, ADJACENCY)
ZONES_FILE = Option(
    'zones_file', str, '',
    'zones, of which each region lies in one: which zone it is is told exactly, and ε protects '
    'which region of it. A file (zone → regions); a regions file whose polygons name their zones; '
    'or levels: the floors of the map. If not set: nothing is told', unit='file')
POLICY = Option('policy', str, AUTO,
                'how a private symbol is chosen. paper: as published, Algorithm 4; guided: where '
                'the true region is not one move away, toward it; adaptive: signals are drawn, '
                'and the route that all so far make likely is published; auto: adaptive, or '
                'guided on very large maps. All keep the same ε',
                choices=(*POLICIES, AUTO))
TRUST = Option('trust', float, DEFAULT_TRUST,
               "for policy: adaptive and base: chain, the weight of the map's probabilities of "
               'moves; the rest goes to six models that need no knowledge of the robot. Without '
               'probabilities it has no effect', least=0, most=1)
DELAY = Option('delay', float, 0.0,
               'how much later a private region leaves, with policy: adaptive: it is then chosen '
               'by what comes until then, too, and errs less. In seconds with sampling: period, '
               'else in symbols', least=0, most=1e9)
LEARN = Option('learn', str, DEFAULT_LEARN,
               'own: with policy: adaptive, learn how the robot moves from its own private '
               'signals, which costs no ε; it helps robots with habits that the map does not '
               'name; none: do not. Lists of symbols learn nothing', choices=LEARNT)
BASE = Option('base', str, AUTO,
              'for mechanism: exponential, which routes are preferred. chain: those that public '
              'models of how robots move make likely, and the probabilities of the map, if any; '
              'counting: none, as published; auto: chain, where it is left open',
              choices=(*BASES, AUTO))
MECHANISM = Option('mechanism', str, AUTO,
                   'how a log is privatized; causal draws as a live node does, by policy; auto '
                   'takes exponential or causal, with the base and policy that commonly err '
                   'least, by a rule from chain, ε, k and length (of an archive: of its longest '
                   'route) alone',
                   choices=(*SELECTIONS, AUTO))
#: What draws: live, and of logs. They are the fields of `core.mechanism_settings`.
LIVE_MECHANISM = (POLICY, TRUST, DELAY, LEARN)
LOG_MECHANISM = (MECHANISM, BASE, TRUST, POLICY, LEARN)

# From messages and logs to symbols

INPUT = Option('input', str, 'region',
               'what comes in. region: messages that name the region; pose: messages that hold a '
               'position, and the region is where it lies', choices=('region', 'pose'))
MESSAGE_TYPE = Option('message_type', str, 'std_msgs/msg/String',
                      'type of the messages, such as nav2_msgs/action/ComputeAndTrackRoute for '
                      'the feedback of an action; with input: pose, if not set: '
                      'geometry_msgs/msg/PoseStamped', unit='type')
FIELD = Option('field', str, 'data',
               'where the region is in a message: a dotted path to a string, integer or boolean, '
               'with [index] or [key=value] into a list, such as robots[name=tb1].mode.mode; with '
               'input: pose, to what has x and y; if not set: the whole message', unit='path')
WHERE = Option('where', list, [],
               'conditions on a message, such as data[0]=1; a message that does not meet all of '
               'them is not input', unit='path=value')
REGIONS_FILE = Option('regions_file', str, '',
                      'for input: pose, the regions as polygons (YAML); if not set: the region is '
                      'the nearest state of the map', unit='file')
HYSTERESIS = Option('hysteresis', float, 0.0,
                    'for input: pose, how far the robot must come into another region, or be '
                    'nearer to it, before the region changes', least=0, most=1e6, unit='metres')
MAX_DISTANCE = Option('max_distance', float, 0.0,
                      'for input: pose, how far from its region the robot may be; farther, the '
                      'region is unknown; 0: with polygons, nowhere outside; else as far as the '
                      'map is large',
                      least=0, most=1e6, unit='metres')
LEVEL_FIELD = Option('level_field', str, '',
                     'for input: pose, where the name of the floor is in a message', unit='path')
MAP_FRAME = Option('map_frame', str, 'map',
                   'the frame of the coordinates of the map: at a pose in another frame, no '
                   'region is known; private poses and markers are in it', unit='frame')
BASE_FRAME = Option('base_frame', str, '',
                    'for input: pose and sampling: period, take the pose of this frame from TF '
                    'instead of a topic; needs tf2_ros', unit='frame')
BROKER = Option(
    'broker', str, '',
    'take states of VDA 5050 from this MQTT broker instead of a topic of ROS, and publish private '
    'ones there, too: mqtt://HOST:PORT, or mqtts://HOST:PORT with TLS; needs paho-mqtt',
    unit='address')
STATE_TOPIC = Option(
    'state_topic', str, '',
    'with broker, the MQTT topic of the robot, such as uagv/v2/KIT/0001/state. The region is its '
    'lastNodeId, or with input: pose its position. Private states go to uagv/v2/KIT/0001/'
    'private_state', unit='topic')
BROKER_LOGIN = Option(
    'broker_login', str, '',
    'with broker, a file of two lines, name and password, that only its owner may read',
    unit='file')
POSE = (REGIONS_FILE, HYSTERESIS, MAX_DISTANCE, LEVEL_FIELD, MAP_FRAME)
SYMBOL_MAP = Option('symbol_map', list, [],
                    'a value in messages or logs, and the state that it means; a value that is '
                    'not listed is itself the name of a state', unit='value=state')
NO_REGION = Option('no_region', list, ['none', ''], 'values that mean that no region is known')
SAMPLING = Option('sampling', str, '',
                  'what a symbol is: each message, each change of region, or the region at every '
                  'period; if not set: period with protect, else message',
                  choices=sampling_rules.SAMPLING)
PERIOD = Option('period', float, 0.0,
                'for sampling: period, time between two symbols; 0: with protect, the shortest in '
                'which a visit touches one symbol; else 1 s', least=0, most=1e9, unit='seconds')
REPORT_PERIOD = Option('report_period', float, 0.0,
                       'for sampling: period and policy: adaptive, time between two private '
                       'regions, of which one symbol may bring several; 0: with protect, one step '
                       'of the map; else period', least=0, most=1e9, unit='seconds')
INPUT_TIMEOUT = Option('input_timeout', float, 0.0,
                       'for sampling: period, time without input after which the region is '
                       'unknown; 0: never', least=0, most=1e9, unit='seconds')
PROTECT = Option('protect', float, 0.0,
                 'what is hidden: where the robot is during any visit of so long. Sampling, '
                 'period, report_period and moves then follow from it and from the map, where '
                 'they are not set; 0: adjacency says what is hidden',
                 least=0, most=1e9, unit='seconds')
MOVES = Option('moves', int, 0,
               'for sampling: period, the most moves that the robot makes between two private '
               'regions; 0: with protect, as many as robots mostly make; else each is one step of '
               'the map', least=0, most=10**6, unit='moves')
STAY = Option('stay', float, 0.0,
              'for sampling: period, how long the robot typically stays in a place, if that is '
              'known and the map names no probabilities; every state can then follow itself; 0: '
              'not known: policy: adaptive and base: chain find it out', least=0, most=1e9,
              unit='seconds')
VISITS = (PROTECT, MOVES, STAY)
MESSAGES = (INPUT, MESSAGE_TYPE, FIELD, WHERE, SYMBOL_MAP, NO_REGION, *POSE, SAMPLING, PERIOD,
            REPORT_PERIOD, INPUT_TIMEOUT, *VISITS)
UNKNOWN_SYMBOL = Option(
    'unknown_symbol', str, 'uniform',
    'what becomes of unknown regions. uniform: each is one more symbol, drawn uniformly; drop: '
    'left out, so their number is public; split: the log is cut there, so the places are public; '
    'hold: the last known region takes their place, and ε covers the resulting word',
    choices=sampling_rules.LOG_UNKNOWN_SYMBOL)
LIVE_UNKNOWN_SYMBOL = replace(
    UNKNOWN_SYMBOL, choices=sampling_rules.LIVE_UNKNOWN_SYMBOL,
    meaning='what becomes of unknown regions. uniform: each is one more symbol, drawn uniformly; '
            'drop: left out, so silence shows that the region is unknown')

# Logs and releases

LOG_DIR = Option('log_dir', str, None,
                 'where the logs are: recordings, .csv and .jsonl; their names and lengths are '
                 'public', unit='directory')
RELEASE_DIR = Option('release_dir', str, None,
                     'where releases go; neither it nor log_dir may lie inside the other',
                     unit='directory')
OUTPUT = Option('output', str, None,
                'where releases go; made if it does not exist. For an archive, the file '
                'OUT.parquet, which must not exist', unit='dir')
TOPIC = Option('topic', str, 'region', 'the topic with the region, in recordings; with '
               'input: pose, if not set: pose', unit='topic')
STAMP_KEY = Option('stamp_key', str, 'stamp',
                   'CSV column or JSON key of the time. An archive may have such a column: then '
                   'ε is charged for each of the most routes that show one moment', unit='name')
STAMP_UNIT = Option('stamp_unit', str, '',
                    'unit of stamps that are numbers in CSV and JSON Lines; if not set: seconds, '
                    'or the one in which all are dates of 1990 to 2100',
                    choices=('s', 'ms', 'us', 'ns'))
SYMBOL_KEY = Option('symbol_key', str, 'symbol',
                    'column or JSON key of the region; a value that is no state is an unknown '
                    'region', unit='name')
FORMAT = Option('format', str, '', 'format of the releases; if not set: csv, with keep mcap',
                choices=('sqlite3', 'mcap', 'csv', 'jsonl'))
KEEP_NAMES = Option('keep_names', bool, False,
                    'name releases after their logs, not by number: file names may contain dates '
                    'or places')
KEEP = Option('keep', list, [],
              'a topic to copy into the release, which is then a recording: format mcap or '
              'sqlite3; of an archive, a column. ε does not cover what is copied. Types of topics '
              'that show where the robot is are refused', unit='topic')
KEEP_ANYWAY = Option('keep_anyway', list, [],
                     'a topic to copy even if its type shows where the robot is', unit='topic')
COARSE_STAMPS = Option('coarse_stamps', float, 0.0,
                       'with keep, round the stamps of copied messages down to multiples of this; '
                       '0: they are exact', least=0, most=1e9, unit='seconds')
CHARGE = Option('charge', str, 'archive',
                'archive: ε once, which limits what k changed symbols anywhere in the archive can '
                'show; use it only where no two routes overlap in time, as many copies of one '
                'route reveal it. route: ε for each route, also where routes overlap',
                choices=('archive', 'route'))
ROUTE_KEY = Option('route_key', str, 'route',
                   'column that tells routes apart: strings or integers, released unchanged',
                   unit='name')
POSITION_KEY = Option('position_key', str, 'position',
                      'column that counts up by one, from 0 or 1, in every route', unit='name')
SUBJECT_KEY = Option('subject_key', str, 'subject',
                     'column, or key of directories like robot=r7, that says whose each route is: '
                     'each subject is then charged for its own', unit='name')
ENGINE = Option('engine', str, 'local',
                'what does the work: local: this process, on all processors. dask, ray, spark: '
                'workers, which must see the same files under the same paths; OUT.parquet is then '
                'a directory of part files', choices=('local', 'dask', 'ray', 'spark'))
SCHEDULER = Option('scheduler', str, '',
                   'the address of the engine: tls://HOST:PORT or tcp://HOST:PORT of Dask, '
                   'HOST:PORT of Ray, spark://HOST:PORT; if not set, dask and spark work on this '
                   'machine alone',
                   unit='address')
UPLOAD = Option('upload', str, '',
                'copy the release to this place, such as s3://BUCKET/PATH, once it is charged; '
                'given again, the same command goes on with a copy that was ended', unit='uri')
PARTIAL = Option('partial', bool, False,
                 'of an archive of several subjects, leave out those who would pass their budget '
                 'or were charged for it before; otherwise it is refused')

TABLE = Option('output', str, None,
               'the directory to make, which must not exist; only you can read it',
               unit='dataset')
TABLE_PARTIAL = replace(PARTIAL, meaning='leave out logs that cannot be read; otherwise nothing '
                        'is written')

# Ledgers

LEDGER_FILE = Option('ledger_file', str, None,
                     'file that records what was spent; made if it does not exist; not in the '
                     'directory of what is released', unit='file')
SUBJECT = Option('subject', str, None, 'whose regions these are: one robot', unit='name')
ALLOW_UNKNOWN = Option(
    'allow_unknown', float, 0.05,
    'refuse a log, before anything is charged, if more than this share of its symbols are values '
    'that name no state, or if the robot stands still for more than this share where the map '
    'does not allow it; values that say that no region is known do not count', least=0, most=1,
    unit='share')
NODE_ALLOW_UNKNOWN = replace(
    ALLOW_UNKNOWN, default=0.5,
    meaning='refuse a log, before anything is charged, if none of its symbols is known, or more '
    'than this share of them are values that name no state: that is all that a refusal tells of '
    'it. 1: refuse no log for what it holds')
BUDGET = Option('budget', float, 0.0, 'the total ε that one log may ever spend; 0: no limit',
                least=0)
SUBJECT_BUDGET = Option('subject_budget', float, 0.0,
                        'the total ε that the subject may ever spend, stored in the ledger; 0: '
                        'the stored one, or no limit if there is none', least=0)
ACCOUNTING = Option('accounting', str, 'pure',
                    'how the releases of a subject add up to what subject_budget limits, stored '
                    'with it. pure: the sum of their ε; zcdp: zero-concentrated differential '
                    'privacy, an ε that holds except with the chance delta',
                    choices=('pure', 'zcdp'))
DELTA = Option('delta', float, 0.0, 'with accounting: zcdp, δ, such as 1e-6', least=0, most=0.01)
RENEW = Option('renew', float, 0.0,
               'with ledger_file, time after which a live word is over, and another one, charged '
               'again, goes on from it: the ledger so counts what is seen every day, and once the '
               'budget is spent nothing more is published; 0: never', least=0, most=1e5,
               unit='hours')
STORED_ACCOUNTING = replace(ACCOUNTING, default='')
LEDGER_DELTA = replace(DELTA, default='', least=1e-100,
                       meaning=f'{DELTA.meaning}; without it, the δ at which zcdp is shown')
EXPORT = Option('export', str, '', 'print every charge in this format instead; with --remaining, '
                'every subject', choices=('csv', 'json'))
REMAINING = Option('remaining', bool, False,
                   'print what each subject has left of its subject_budget instead')
SUBJECT_SHOWN = Option('subject', str, '', 'show the charges of this subject alone')
VERIFY = Option('verify', str, '',
                'say instead whose and which charge a release was made for, and with which '
                'settings; exit status 1 if it is none of this ledger, or was changed',
                unit='release')
RECOVER = Option('recover', bool, False,
                 'make a damaged, lost or older ledger usable again: keep what can be read, and '
                 'count at least what FILE.mark holds as spent by each subject. First stop every '
                 'process that uses the ledger. The old file is kept next to it')

# Nodes


@dataclass(frozen=True)
class OutputKind:
    """
    One of the `outputs`; `ros.outputs.NAME_output` makes it.

    :param meaning: what is published for a region.
    :param topic_meaning: what the topic shows.
    :param type: of the messages; '': that of `output_type`.
    :param needs_positions: whether the map must have a position of every state.
    :param setting: the option with which it is published, whatever the `outputs`; the node itself
        makes it. '': it is one of the `outputs`.
    """

    meaning: str
    topic_meaning: str
    type: str = ''  # noqa: A003 (of this class alone)
    needs_positions: bool = False
    setting: str = ''


#: What can be published for each region: a new output is one more module, and one more line here.
#: Topics, arguments of launch files, keys of fleet files and rules of isolation are made from it.
OUTPUT_KINDS = {
    'string': OutputKind('its name', 'the private region'),
    'pose': OutputKind('its position', 'the position of the private region',
                       'geometry_msgs/msg/PoseWithCovarianceStamped', needs_positions=True),
    'markers': OutputKind('a picture for RViz and Foxglove', 'a picture of the private region',
                          'visualization_msgs/msg/MarkerArray', needs_positions=True),
    'belief': OutputKind('with policy: adaptive, what all signals so far let others believe',
                         'where the robot was at the time of the private region',
                         'diagnostic_msgs/msg/DiagnosticStatus'),
    'custom': OutputKind('a message of output_type', 'the private region in output_template'),
    'zone': OutputKind('its zone', 'the zone of the private region', 'std_msgs/msg/String',
                       setting='zones_file'),
}


_CHOSEN = {name: kind for name, kind in OUTPUT_KINDS.items() if not kind.setting}
OUTPUTS = Option('outputs', list, ['string'],
                 'what is published for each region. '
                 + '; '.join(f'{name}: {kind.meaning}' for name, kind in _CHOSEN.items()),
                 choices=tuple(_CHOSEN))
OUTPUT_TYPE = Option('output_type', str, 'std_msgs/msg/String',
                     'type of the private topic: its field data is a string or an integer; with '
                     'custom among the outputs, the type that output_template fills', unit='type')
OUTPUT_TEMPLATE = Option('output_template', str, '',
                         'for outputs: custom, the fields of the message (YAML), such as {data: '
                         "[1, '{region}', '{next}']}", unit='yaml')
OUTPUT_OPTIONS = (OUTPUTS, OUTPUT_TYPE, OUTPUT_TEMPLATE)
#: How many regions a `privatizer` keeps for slow and late readers.
KEPT_REGIONS = 1000
#: The value of `state_file` that names no file.
NO_FILE = 'none'
STATE_FILE = Option('state_file', str, '',
                    'file that keeps the word over restarts, one for each robot; if not set: one '
                    'in ROS_HOME (~/.ros), named by ROS domain and node; none: a restart begins a '
                    'new word', unit='file')
TOP = Option('top', int, 10,
             'how many of the most probable regions a belief holds; 0: all', least=0,
             unit='regions')
PERIOD_OF_REGIONS = replace(PERIOD, default=1.0, meaning='time between two regions', least=1e-4)
COUNT = Option('count', int, 0, 'regions to publish before it stops; 0: no end', least=0,
               unit='regions')
SEED = Option('seed', int, -1, 'seed of the walk; -1: another walk each time', least=-1)
WAIT_FOR_SUBSCRIBERS = Option('wait_for_subscribers', int, 0,
                              'how many subscribers the topic must have before the walk begins',
                              least=0, unit='subscribers')
AUTOSTART = Option('autostart', bool, True,
                   'configure and activate the node when it starts; false: wait for a lifecycle '
                   'manager')
FLEET = Option('fleet', str, None, 'the fleet file (YAML): the settings of all robots',
               unit='file')
OUTPUT_DOMAIN = Option('output_domain', int, -1,
                       'the ROS domain in which everything private is published, and nothing '
                       'else; -1: the domain of the node, with all its topics and services',
                       least=-1, most=232)
PARAMETER_SERVICES = Option('parameter_services', bool, True,
                            'offer the services that other nodes and ros2 param use to read '
                            'parameters')

#: Name of each node → its parameters.
PARAMETERS = {
    'privatizer': (
        *CHAIN, *PRIVACY, ZONES_FILE, *LIVE_MECHANISM, *MESSAGES, BASE_FRAME, BROKER,
        STATE_TOPIC, BROKER_LOGIN, LIVE_UNKNOWN_SYMBOL,
        *OUTPUT_OPTIONS, TOP, STATE_FILE,
        replace(LEDGER_FILE, default='',
                meaning='ledger that every word is charged to; if not set: none'),
        replace(SUBJECT, default='', meaning='with ledger_file: whose regions these are'),
        SUBJECT_BUDGET, ACCOUNTING, DELTA, RENEW, OUTPUT_DOMAIN, AUTOSTART, PARAMETER_SERVICES),
    'log_release': (
        *CHAIN, *PRIVACY, ZONES_FILE, *LOG_MECHANISM, *MESSAGES, UNKNOWN_SYMBOL,
        NODE_ALLOW_UNKNOWN, LOG_DIR, RELEASE_DIR, LEDGER_FILE, SUBJECT, BUDGET, SUBJECT_BUDGET,
        ACCOUNTING, DELTA, TOPIC, STAMP_KEY, STAMP_UNIT, SYMBOL_KEY, FORMAT, KEEP_NAMES, KEEP,
        KEEP_ANYWAY,
        COARSE_STAMPS, AUTOSTART, PARAMETER_SERVICES),
    'patrol': (*CHAIN, PERIOD_OF_REGIONS, COUNT, SEED, WAIT_FOR_SUBSCRIBERS, PARAMETER_SERVICES),
    'fleet': (FLEET, PARAMETER_SERVICES),
}

# Topics and launch files

_REGION = Option('region', str, 'region', 'comes in, with input: region: the sensitive region '
                 '(message_type)')
_PRIVATE_REGION = Option(
    'private_region', str, 'private_region', 'goes out, with outputs: string: the private region '
    '(output_type)')


def _placed_topics() -> tuple[Option, ...]:
    return tuple(Option(output_topic(name), str, output_topic(name),
                        f'goes out, with {kind.setting or f"outputs: {name}"}: '
                        f'{kind.topic_meaning} ({kind.type or "output_type"})')
                 for name, kind in OUTPUT_KINDS.items() if name != 'string')


def output_topic(output: str) -> str:
    """Return the topic of one of the `outputs`, before remapping."""
    return 'private_region' if output == 'string' else f'private_{output}'


def private_topics(values: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the topics that a `privatizer` publishes, before remapping, and their types.

    :param values: of all its options.
    """
    published = [*values['outputs'], *(name for name, kind in OUTPUT_KINDS.items()
                                       if kind.setting and values[kind.setting])]
    return {output_topic(name): message_type_of(name, values) for name in published}


def message_type_of(output: str, values: Mapping[str, Any]) -> str:
    """
    Return the message type of one of `OUTPUT_KINDS`.

    :param values: of `OUTPUT_OPTIONS`. With custom among them, output_type is its type alone.
    """
    if output == 'string' and 'custom' in values['outputs']:
        return str(OUTPUT_TYPE.default)
    return OUTPUT_KINDS[output].type or str(values['output_type'])


#: Name of each node → the topics that may be remapped.
TOPICS = {
    'privatizer': (
        _REGION,
        Option('pose', str, 'pose', 'comes in, with input: pose: the sensitive pose '
               '(message_type)'),
        _PRIVATE_REGION, *_placed_topics()),
    'log_release': (),
    'patrol': (replace(_REGION, meaning='goes out: where the simulated robot is '
                       '(std_msgs/msg/String)'),),
    'fleet': (),
}

NAMESPACE = Option('namespace', str, '', 'namespace of the nodes and topics, such as robot_1')
USE_SIM_TIME = Option('use_sim_time', bool, False, 'take the time from the topic /clock')
#: Arguments of each launch file, besides the topics and parameters of its node.
LAUNCH = (
    NAMESPACE,
    Option('params_file', str, '', 'YAML file with parameters, which arguments override; a path '
           'or package://PACKAGE/PATH'),
    Option('log_level', str, 'info', 'what is logged',
           choices=('debug', 'info', 'warn', 'error', 'fatal')),
    Option('respawn', bool, False, 'start the node again when it ends; otherwise the launch ends '
           'with status 1 if the node failed'),
    Option('respawn_delay', float, 2.0, 'with respawn, time until the node starts again', least=0,
           most=1e9, unit='seconds'),
)

# `symdp` alone

LEARN_UNIT = Option('unit', str, 'symbols',
                    'what ε is for. symbols: any k symbols of all logs together; log: any change '
                    'of one whole log', choices=('symbols', 'log'))
CLIP = Option('clip', int, 300,
              'with --unit log: of a log, at most so many transitions count; about as many as a '
              'log has', least=1, most=10**9, unit='transitions')
LEARNED_CHAIN = MADE_CHAIN = Option('output', str, None, 'the chain file to make', unit='file')
REGIONS = Option('regions', str, '',
                 'compare the polygons of this file (YAML) with the map, too', unit='file')
MAP_FIGURE = Option('output', str, '', 'draw the map into this file (.svg, .png, .pdf)',
                    unit='file')
STATES = Option('states', bool, False, 'print the names of all states instead, one per line')
CHECKED_TOPIC = replace(
    TOPIC, default='', meaning='listen to this topic of a running robot, and say how many '
    'messages name no state, and which names, or how far poses lie from their regions (--input '
    'pose); it is shown: for your own terminal')
LISTENED = Option('seconds', float, 5.0, 'with --topic, how long to listen', least=0.1, most=3600,
                  unit='seconds')
ECHOED = Option('seconds', float, '', 'how long to listen; if not set: until Ctrl-C', least=0.1,
                most=3600, unit='seconds')
LENGTH = Option('length', int, 50, 'symbols of a route', least=1, unit='symbols')
TARGET_ERROR = Option('target_error', float, '',
                      'also find the ε at which this share of the symbols is wrong', least=1e-6,
                      most=1 - 1e-6, unit='share')
ZONE_SIZE = Option('size', int, 12, 'the most states of a zone', least=2, unit='states')
ZONES_OUTPUT = replace(OUTPUT, default='', meaning='the file to write; if not given, they are '
                       'printed', unit='file')
CHECKED_EPSILON = Option('epsilon', float, 2.0, 'with --zones-file: the ε at which an adversary '
                         'guesses', least=0)
SECONDS = Option('seconds', float, 60.0, 'about how long it may take: where all routes would take '
                 'longer, fewer are simulated', least=1.0, unit='seconds')
WALKS = Option('walks', int, '', 'routes of each robot to average over (default: 200 in all, at '
               'least 40 of each)', least=2, unit='routes')
LOG_WORD = Option('word', str, '',
                  'a log (stamp,symbol) to use instead of simulated routes: the result is then as '
                  'sensitive as the log', unit='file')
PLOT = Option('plot', str, '', 'draw the errors into this file', unit='file.png')
VISIT = replace(PROTECT, meaning='compare periods that protect a visit of this length')
CALIBRATED_ADJACENCY = replace(
    ADJACENCY, default=1, least=1,
    meaning='without --protect, symbols are counted: how many may differ, k')
CALIBRATED_DELAY = Option('delay', float, 0.0, 'how late live private regions may be, in symbols; '
                          'with --protect, in seconds', least=0, most=1e9)
VISIT_YAML = Option('yaml', str, '', 'write the parameters of the row of fewest errors into this '
                    'new file, for a privatizer', unit='file.yaml')
CALIBRATED_EPSILON = replace(
    EPSILON, default='', meaning='the ε at which robots and mechanisms are compared (default: 2); '
    'with --protect, give this or --target-error')
EXPLORED = (
    Option('epsilon', list, [], 'an ε to stop at (default: 1, 2, 3, 5)', unit='epsilon'),
    Option('protect', list, [], 'the length of a visit, in seconds (default: 10, 30)',
           unit='seconds'),
    Option('stay', list, [], 'how long the robot typically stays in a place, in seconds; 0: not '
           'known, which takes several times as long (default: 60, 300; with zones: 60; of a map '
           'with probabilities: as it says)', unit='seconds'))
EXPLORED_PAGE = Option('output', str, None, 'the page to write (HTML); it must not exist',
                       unit='file.html')
DURATION = Option('duration', float, 20.0, 'how long the demo runs', least=1e-3, most=1e9,
                  unit='seconds')
ROBOTS = Option('robots', int, 1, 'how many simulated robots', least=1, most=50, unit='robots')
RATE = Option('rate', float, 5.0, 'regions per second', least=1e-9, most=1e4, unit='hz')
FIGURE = Option('figure', str, '',
                'draw both routes on the map, into this file (needs a map with positions)',
                unit='file.svg')
AUTOMATON_WORD = Option('word', str, None,
                        'the word: its symbols, separated by commas (so none may contain one); it '
                        'need not be feasible', unit='s1,s2,…')
DISTANCE = Option('distance', int, None,
                  'how many symbols differ: 0 to the length of the word', unit='symbols')
DOT = Option('dot', bool, False, 'print the graph for Graphviz, in place of the table: '
             '… --dot | dot -Tsvg -o automaton.svg')
DOMAIN = Option('domain', int, '', 'the ROS domain; if not set: that of ROS_DOMAIN_ID, or 0',
                least=0, most=232, unit='number')
WAIT_FOR_NODES = Option('seconds', float, 7.0,
                        'how long to wait for nodes to announce themselves; DDS repeats an '
                        'announcement that was lost every 3 s', least=0, most=3600,
                        unit='seconds')
RAW = Option('raw', bool, False, 'print an answer in JSON as it came, on one line, as is done '
             'where the output is no terminal')
ANSWERED = Option('timeout', float, 600.0, 'how long to wait for the answer: the release of many '
                  'logs takes long', least=0.1, most=1e6, unit='seconds')
DOCTOR_TOPICS = Option('topics', list, [], 'look only at this topic and those below it, such as '
                       '/fleet', unit='topic')
ISOLATED_BY = Option('for', str, None, 'the tool that keeps everything else in',
                     choices=('sros2', 'zenoh', 'domain-bridge'))
TO_DOMAIN = Option('to_domain', int, '', 'for domain-bridge, the ROS domain of the readers; if '
                   'not set: output_domain (fleet_domain)', least=0, most=232, unit='number')
ISOLATION = Option('output', str, None, 'where the files go; made if it does not exist',
                   unit='dir')

TABLE_SUBJECT = replace(SUBJECT, default='', meaning='whose logs all are; if not set: each '
                        'directory in LOGS is named after a robot, like r7 or robot=r7')
LEARN_LEDGER = (replace(LEDGER_FILE, name='ledger', default=''), replace(SUBJECT, default=''),
                SUBJECT_BUDGET, ACCOUNTING, DELTA)
RELEASE_LEDGER = (*LEARN_LEDGER, BUDGET)
RECORDED_TYPE = replace(MESSAGE_TYPE, default='',
                        meaning='type of the recorded messages; if not set: as the recording says')
_RECORDED = (TOPIC, RECORDED_TYPE, INPUT, FIELD, WHERE, *POSE)
OF_TABLE = (*_RECORDED, STAMP_KEY, STAMP_UNIT, SYMBOL_KEY, SAMPLING, PERIOD, INPUT_TIMEOUT)
OF_LEARNED_LOGS = (*_RECORDED, STAMP_KEY, STAMP_UNIT, SYMBOL_KEY, SYMBOL_MAP, SAMPLING, PERIOD,
                   INPUT_TIMEOUT, *VISITS)
OF_LOGS = (*_RECORDED, SAMPLING, PERIOD, REPORT_PERIOD, INPUT_TIMEOUT, MOVES, STAY,
           UNKNOWN_SYMBOL, FORMAT, KEEP_NAMES, KEEP_ANYWAY, COARSE_STAMPS)
DRY_RUN = Option('dry_run', bool, False,
                 'only print, on stderr, what is known of each log, what its release would cost, '
                 'and what would be left; release, charge and write nothing. These numbers are '
                 'about the true route: keep them to yourself')
OF_ARCHIVES = (CHARGE, ROUTE_KEY, POSITION_KEY, SUBJECT_KEY, PARTIAL, UPLOAD, ENGINE, SCHEDULER)


#: Option → what it needs to have an effect, and whether that is so. Of nodes that sample.
_NEEDS: dict[str, tuple[str, Callable[[Mapping[str, Any]], bool]]] = {
    'period': ('sampling: period', lambda values: (
        values['sampling'] or (values['protect'] and 'period')) == 'period'),
    'regions_file': ('input: pose, or outputs with positions', lambda values: (
        values.get('input') != 'region'
        or not set(values.get('outputs', ())) <= {'string', 'belief'})),
    'hysteresis': ('input: pose', lambda values: values['input'] == 'pose'),
    'max_distance': ('input: pose', lambda values: values['input'] == 'pose'),
    'no_region': ('input: region', lambda values: values['input'] == 'region'),
    'output_template': ('outputs: [custom]', lambda values: 'custom' in values['outputs'])}
_PRACTICALLY_SURE = 8.0  # ε


def warnings_of(values: Mapping[str, Any], given: Collection[str]) -> list[str]:
    """
    Return a sentence for each setting that is probably a mistake.

    :param values: of all options of a node.
    :param given: the names of those that were set.
    """
    sentences = [f'{name} has no effect: it needs {needed}' for name, (needed, is_so)
                 in _NEEDS.items() if name in given and name in values and 'sampling' in values
                 and not is_so(values)]
    epsilon = values.get('epsilon') or 0.0
    if epsilon > _PRACTICALLY_SURE:
        sentences.append(f'epsilon is {epsilon:g}: others can be practically sure of the truth (e^'
                         f'{epsilon:g} to 1); values of use are below {_PRACTICALLY_SURE:g}')
    return sentences

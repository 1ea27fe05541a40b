# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States as robots send them, of version 2 and 3 of VDA 5050: all that their schemas require."""
import json

_ORDER = {
    'orderId': 'order-17', 'orderUpdateId': 3,
    'edgeStates': [{'edgeId': 'e4', 'sequenceId': 3, 'released': True}],
    'driving': True, 'operatingMode': 'AUTOMATIC', 'errors': [],
    'actionStates': [{'actionId': 'a1', 'actionType': 'pick', 'actionStatus': 'FINISHED'}]}


def state(node, *, version='2.1.0', number=7, second=0, position=None, is_known=True):
    """
    Return a state.

    :param node: its lastNodeId.
    :param second: after the full minute of its time.
    :param position: (x, y) or (x, y, floor); None: it says none.
    """
    found = {
        'headerId': number, 'timestamp': f'2026-11-27T20:15:{second:02}.250Z', 'version': version,
        'manufacturer': 'KIT', 'serialNumber': '0001', 'lastNodeId': node,
        'lastNodeSequenceId': 2, **_ORDER,
        'nodeStates': [{'nodeId': 'n9', 'sequenceId': 4, 'released': True}],
        'velocity': {'vx': 0.75, 'vy': 0.0, 'omega': 0.125}}
    new = int(version.partition('.')[0]) >= 3
    if new:
        found |= {'instantActionStates': [],
                  'powerSupply': {'stateOfCharge': 61.5, 'charging': False},
                  'safetyState': {'activeEmergencyStop': 'NONE', 'fieldViolation': False}}
    else:
        found |= {'batteryState': {'batteryCharge': 61.5, 'charging': False},
                  'safetyState': {'eStop': 'NONE', 'fieldViolation': False}}
    if position is not None:
        x, y, *floor = position
        found['mobileRobotPosition' if new else 'agvPosition'] = {
            'x': x, 'y': y, 'theta': 0.5, 'mapId': [*floor, 'hall'][0],
            'localized' if new else 'positionInitialized': is_known}
    return found


def message(node, **how):
    """Return `state` as the bytes of a message."""
    return json.dumps(state(node, **how)).encode()

# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Draw the rooms of symdp_ros and what they import into CONTRIBUTING.md: `make house`."""
import ast
from pathlib import Path
import re

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / 'CONTRIBUTING.md'


def rooms(package: Path) -> dict[str, set[str]]:
    """Return each room of a package, and the rooms that its modules import anywhere."""
    found: dict[str, set[str]] = {}
    for file in package.rglob('*.py'):
        room = file.relative_to(package).parts[0].removesuffix('.py')
        if room != '__init__':
            names = (node.module or '' for node in ast.walk(ast.parse(file.read_text()))
                     if isinstance(node, ast.ImportFrom))
            found.setdefault(room, set()).update(
                name.split('.')[1] for name in names if name.startswith(f'{package.name}.'))
    return {room: others - {room} for room, others in found.items()}


def direct(imports: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the arrows between rooms, but for those that a way of two or more arrows shows."""
    def reached(room: str) -> set[str]:
        return set().union(*({other} | reached(other) for other in imports[room]))

    return sorted((room, other) for room, others in imports.items() for other in others
                  if not any(other in reached(between) for between in others))


def picture(package: Path) -> str:
    """Return the house as a Mermaid diagram."""
    arrows = '\n'.join(f'  {room} --> {other}' for room, other in direct(rooms(package)))
    return f'```mermaid\nflowchart TD\n{arrows}\n```'


def main() -> None:
    """Put the picture in the place of the one that is there."""
    page, count = re.subn(r'```mermaid\n.*?```', picture(ROOT / 'symdp_ros'), PAGE.read_text(),
                          flags=re.S)
    assert count == 1, f'{PAGE} has {count} diagrams'
    PAGE.write_text(page)


if __name__ == '__main__':
    main()

"""Tests that every Python command of the recipes exists and accepts its options. They take seconds and need no data.

    python3 -m unittest common.test_commands
"""
import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import classifier.__main__
import translator.__main__
import writer.__main__
from common.commands import parser_of

COMMANDS = {"classifier": classifier.__main__.COMMANDS, "translator": translator.__main__.COMMANDS,
            "writer": writer.__main__.COMMANDS}
RECIPES = Path(__file__).parents[1] / "recipes"


def commands_of(recipe):
    """Runs a recipe with a python3 that only logs its arguments, and returns the arguments of each call of a package."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.touch()
        python = Path(folder) / "python3"
        python.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" "" >> "{log}"\n')
        # These do nothing: every corpus and package is found, with nothing in it.
        idle = [Path(folder) / name for name in ("cp", "gunzip", "mv", "node", "npm", "tar")]
        for program in idle:
            program.write_text("#!/bin/sh\n")
        for program in (python, *idle):
            program.chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "GLASSFORMER": "true"}
        subprocess.run(["sh", str(RECIPES / "run.sh"), recipe, folder, f"{folder}/run"], env=environment, check=True,
                       capture_output=True)
        calls = [call.split("\n") for call in log.read_text().strip().split("\n\n")]
        return [call for call in calls if call[0] == "-m" and call[1] in COMMANDS]


class CommandsTest(unittest.TestCase):
    def test_the_commands_of_recipes_parse(self):
        seen = set()
        for path in RECIPES.glob("*.sh"):
            for _, package, command, *options in commands_of(path.stem) if path.stem != "run" else []:
                seen.add((package, command))
                parser, _ = parser_of(package, command, COMMANDS[package][command][0])
                with contextlib.redirect_stderr(io.StringIO()) as errors:
                    try:
                        parser.parse_args(options)
                    except SystemExit:
                        self.fail(f"{path.name}: {command}: {errors.getvalue()}")
        known = {(package, command) for package, commands in COMMANDS.items() for command in commands}
        self.assertEqual(known - seen, {("translator", "plot"), ("writer", "plot")})


if __name__ == "__main__":
    unittest.main()

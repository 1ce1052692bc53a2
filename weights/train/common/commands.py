"""Runs `python3 -m PACKAGE COMMAND ...`: the entry point that the packages share."""
import argparse
import importlib
import sys


def run(package, commands):
    """Runs the command that the command line names.

    commands: {command: (module, description)}. A module has `add_arguments(parser)` and `main(arguments)`; its
    docstring is the command's help. Only the module of the chosen command is imported.
    """
    chosen = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if chosen not in commands:
        print(usage(package, commands), file=sys.stdout if chosen in ("-h", "--help") else sys.stderr)
        raise SystemExit(0 if chosen in ("-h", "--help") else 2)
    parser, module = parser_of(package, chosen, commands[chosen][0])
    module.main(parser.parse_args(sys.argv[2:]))


def usage(package, commands):
    width = max(map(len, commands))
    lines = [f"  {command.ljust(width)}  {description}" for command, (_, description) in commands.items()]
    return "\n".join([f"usage: python3 -m {package} COMMAND ...", "", *lines])


def parser_of(package, command, name):
    """Returns (the parser of a command, its module)."""
    module = importlib.import_module(name)
    parser = argparse.ArgumentParser(prog=f"python3 -m {package} {command}", description=module.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    module.add_arguments(parser)
    return parser, module

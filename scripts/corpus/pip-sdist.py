"""Saves the source archive of a package (`name==version`) in a folder: by pip's own finder and session, so that the
user's settings apply, and without running the package's code, which `pip download` would do."""

import os
import sys

from pip._internal.commands import create_command
from pip._vendor.packaging.specifiers import SpecifierSet

name, _, version = sys.argv[1].partition("==")
command = create_command("download")
options, _ = command.parse_args(["--no-deps", "--no-binary", ":all:"])
session = command._build_session(options)
finder = command._build_package_finder(options, session)
candidate = finder.find_best_candidate(name, SpecifierSet(f"=={version}")).best_candidate
if candidate is None:
    sys.exit(f"No source archive of {name} {version} is there.")
answer = session.get(candidate.link.url_without_fragment)
answer.raise_for_status()
with open(os.path.join(sys.argv[2], candidate.link.filename), "wb") as file:
    file.write(answer.content)

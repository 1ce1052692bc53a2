"""The Python code in the documentation runs, in order as in a notebook, and prints what it says."""

import contextlib
import io
import os
import re
import unittest

from tests.python.helpers import root

blocks = re.compile(r"^```(python(?: glassformer)?|text output)\n(.*?)^```$", re.M | re.S)


class Documentation(unittest.TestCase):
    def run_document(self, path, kind):
        before = os.getcwd()
        os.chdir(root)
        self.addCleanup(os.chdir, before)
        names, printed, count = {}, "", 0
        for found in blocks.finditer((root / path).read_text()):
            language, code = found.groups()
            if language == "text output":
                self.assertEqual(printed.rstrip(), code.rstrip())
            elif language == kind:
                count += 1
                output = io.StringIO()
                with contextlib.redirect_stdout(output):
                    exec(compile(code, f"{path}, snippet {count}", "exec"), names)
                printed = output.getvalue()
        return count

    def test_guide(self):
        self.assertGreaterEqual(self.run_document("web/docs/python.md", "python glassformer"), 7)

    def test_readme(self):
        self.assertEqual(self.run_document("python/README.md", "python"), 1)


if __name__ == "__main__":
    unittest.main()

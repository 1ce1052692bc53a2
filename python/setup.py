"""Builds the package, and its module glassformer._core with CMake."""

import json
import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from shutil import copy2

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = Path(__file__).resolve().parent
root = here.parent
work = root / "build/python"  # keeps what this writes out of the sources
work.mkdir(parents=True, exist_ok=True)


def nanobind():
    """Returns the folder of nanobind: pip's, or the one of the set-up."""
    try:
        import nanobind

        return Path(nanobind.include_dir()).parent
    except ImportError:
        folder = root / ".toolchain/nanobind"
        if not folder.exists():
            sys.exit("nanobind is missing: run  pip install nanobind")
        return folder


def configure():
    """Configures the native build for this Python. Returns its folder."""
    command = ["cmake", "--preset", "native"]
    command.append(f"-DGLASSFORMER_PYTHON_INCLUDE={sysconfig.get_path('include')}")
    command.append(f"-DGLASSFORMER_NANOBIND={nanobind()}")
    command += shlex.split(os.environ.get("CMAKE_ARGS", ""))
    subprocess.run(command, cwd=root, check=True)
    return "build/native"


class Build(build_ext):
    def build_extension(self, extension):
        # The tests name the folder of a build that is configured.
        build = os.environ.get("GLASSFORMER_BUILD") or configure()
        command = ["cmake", "--build", build, "--target", "glassformer_python"]
        subprocess.run(command, cwd=root, check=True)
        module = Path(self.get_ext_fullpath(extension.name))
        module.parent.mkdir(parents=True, exist_ok=True)
        copy2(root / build / "_core.so", module)


setup(
    name="glassformer",
    version=json.loads((root / "package.json").read_text())["version"],
    description="A Transformer you can see through: trace, patch and explain it with NumPy arrays.",
    long_description=(here / "README.md").read_text(),
    long_description_content_type="text/markdown",
    url="https://github.com/glassformer/glassformer",
    author="Glassformer contributors",
    license="MIT",
    license_files=["LICENSE", "THIRD_PARTY_NOTICES"],
    keywords="transformer attention interpretability gradients",
    python_requires=">=3.10",
    install_requires=["numpy>=1.22"],
    packages=["glassformer"],
    package_data={"glassformer": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("glassformer._core", [])],
    cmdclass={"build_ext": Build},
    options={"build": {"build_base": str(work)}, "egg_info": {"egg_base": str(work)}},
)

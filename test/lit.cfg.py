"""The lit suite of pol.

Parameters (lit --param name=value):
  verify_roundtrip=1  every pol-opt of a RUN line also gets --verify-roundtrip:
                      what it has parsed is printed, as text and as bytecode,
                      read back and compared. It applies to tests with
                      -split-input-file (part by part) and -verify-diagnostics
                      (the copy has a context of its own, so nothing is
                      reported twice) as to all others.
  exec_root=DIR       where the tests write.
"""

# ruff: noqa: F821 (lit defines config and lit_config)

import os
import shlex
import shutil
import sys

import lit.formats

config.name = "pol"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lib", "unit", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params.get("exec_root", config.pol_exec_root)


def is_on(parameter):
    value = lit_config.params.get(parameter, "0")
    if value not in ("0", "1"):
        lit_config.fatal(f"expected {parameter} to be 0 or 1, but got {value}")
    return value == "1"


verify_roundtrip = is_on("verify_roundtrip")


def add_tool(name, folder, arguments=""):
    """Lets RUN lines call a tool by name; an absent one is no feature."""
    path = os.path.join(folder, name)
    if not os.access(path, os.X_OK):
        return
    config.available_features.add(name)
    # A whole word, and not a part of a path or of a longer name.
    config.substitutions.append(
        (
            rf"(?<![\w./-]){name}(?![\w./-])",
            # The path is the replacement of a regular expression.
            f"{shlex.quote(path)}{arguments}".replace("\\", r"\\"),
        )
    )


roundtrip = " --verify-roundtrip" if verify_roundtrip else ""
for tool in ("pol-opt", "pol-test-opt"):
    add_tool(tool, config.pol_tools_dir, roundtrip)
for tool in ("pol-run", "pol-plan"):
    add_tool(tool, config.pol_tools_dir)
for tool in ("FileCheck", "not", "count", "split-file", "mlir-opt",
             "mlir-translate", "mlir-runner", "llc"):
    add_tool(tool, config.llvm_tools_dir)
for tool in ("pol-opt", "pol-test-opt", "FileCheck", "not"):
    if tool not in config.available_features:
        lit_config.fatal(f"{tool} is missing: build all of pol first")

config.substitutions.append(("%python", shlex.quote(sys.executable)))
config.substitutions.append(("%pol_src_root",
                             os.path.dirname(config.test_source_root)))
config.substitutions.append(("%pol_lib_dir",
                             os.path.join(config.pol_build_dir, "lib")))

# Runs a program under a checker of memory: exit status 9 if it errs or leaks.
# A sanitized program checks itself, and does not run under another checker.
memcheck = shutil.which("valgrind") if not config.pol_sanitize else None
config.substitutions.append((
    "%memcheck",
    f"{memcheck} -q --error-exitcode=9 --leak-check=full "
    "--errors-for-leak-kinds=definite --show-leak-kinds=definite"
    if memcheck else "",
))

# A C program with compiled code in it: the compiler of the pinned LLVM, and
# what pol's headers and runtime take.
sanitizers = " -fsanitize=address,undefined" if config.pol_sanitize else ""
config.substitutions.append((
    "%cc_with_pol",
    f"{shlex.quote(os.path.join(config.llvm_tools_dir, 'clang'))}{sanitizers} "
    f"-I{os.path.join(os.path.dirname(config.test_source_root), 'include')} "
    "-Wno-override-module",
))
config.substitutions.append((
    "%pol_runtime",
    f"{os.path.join(config.pol_build_dir, 'lib', 'libPolRuntime.a')} "
    "-lstdc++ -lm",
))

# What a CUDA toolkit adds: found as pol-opt finds it.
toolkits = [
    folder
    for folder in (*map(os.environ.get, ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")),
                   "/usr/local/cuda")
    if folder
    and os.path.exists(f"{folder}/nvvm/libdevice/libdevice.10.bc")
]
if toolkits:
    config.available_features.add("libdevice")
for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
ptxas = shutil.which("ptxas", path=os.pathsep.join(
    [f"{folder}/bin" for folder in toolkits] + os.environ["PATH"].split(":")))
if ptxas:
    add_tool("ptxas", os.path.dirname(ptxas))
config.substitutions.append((
    "%extract_ptx",
    f"{shlex.quote(sys.executable)} " + os.path.join(
        os.path.dirname(config.test_source_root), "scripts", "extract-ptx.py"),
))

# What FileCheck found where is worth more than the bare line.
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=error"

if config.pol_sanitize:
    config.available_features.add("sanitize")
    # As in CMakePresets.json, for a lit that CTest did not start. LLVM's bump
    # allocators poison memory in code of ours and fill it in libMLIR, which is
    # not instrumented; running out of memory is something that tests do. A
    # report ends in a signal, which `not` does not take for an ordinary failure.
    defaults = {
        "ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=1:"
                        "strict_string_checks=1:"
                        "allocator_may_return_null=1:"
                        "allow_user_poisoning=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    for name, default in defaults.items():
        config.environment[name] = (
            os.environ.get(name, default) + ":abort_on_error=1"
        )
    symbolizer = os.path.join(config.llvm_tools_dir, "llvm-symbolizer")
    config.environment["ASAN_SYMBOLIZER_PATH"] = symbolizer
    if "LSAN_OPTIONS" in os.environ:
        config.environment["LSAN_OPTIONS"] = os.environ["LSAN_OPTIONS"]
else:
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            config.environment[name] = os.environ[name]

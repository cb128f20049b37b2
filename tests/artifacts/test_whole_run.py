"""Files that are not Python, through the engine: when they are read, suppressed, counted, kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Finding, Report

FILES = {
    "requirements.txt": "numpy\nflash-attn>=2\n",
    "Dockerfile": "FROM nvidia/cuda:12.1.0-devel\nRUN pip install flash-attn\n",
    "train.sh": "export NCCL_DEBUG=INFO\ntorchrun train.py\n",
    "pod.yaml": "resources:\n  limits:\n    nvidia.com/gpu: 8\n",
    "ops/add.cu": "__global__ void add_kernel(float* x) { }\n",
    "notes.md": "Run `torchrun` with flash-attn on nvidia/cuda.\n",
    "train.py": "import torch\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(FILES)
    return tmp_path


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def run(*paths: str, **values: object) -> Report:
    overrides = values.pop("overrides", {})
    options = Options(overrides=overrides, isolated=True, cache=False, **values)  # type: ignore[arg-type]
    return engine.check([Path(path) for path in paths or (".",)], options)


def told(report: Report) -> list[tuple[str, str]]:
    return [(finding.filename, finding.code) for finding in report.findings]


def of(report: Report, code: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.code == code]


def test_a_whole_folder(project: Path) -> None:
    assert told(run()) == [
        ("Dockerfile", "XLA910"),
        ("Dockerfile", "XLA909"),
        ("ops/add.cu", "XLA602"),
        ("pod.yaml", "XLA911"),
        ("train.sh", "XLA912"),
        ("train.sh", "XLA912"),
    ]


def test_a_list_of_files_is_read_as_in_a_folder(project: Path) -> None:
    """As a commit hook gives it."""
    names = [name for name in FILES if name != "notes.md"]
    report = run(*names)
    assert report.skipped == () and told(report) == told(run())


def test_a_dependency_is_reported_once_with_its_other_places(project: Path) -> None:
    (finding,) = of(run(), "XLA909")
    assert [(r.message, r.filename) for r in finding.reasons if r.filename != finding.filename] == [
        ("also here", "requirements.txt")
    ]


def test_continuous_integration_is_information(project: Path) -> None:
    write({".github/workflows/test.yml": "jobs:\n  a:\n    container: nvidia/cuda:12.1\n"})
    (finding,) = [f for f in run().findings if f.filename.startswith(".github")]
    assert (finding.code, finding.severity) == ("XLA910", "info")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("requirements.txt", "flash-attn>=2", "flash-attn>=2  # xlamig: ignore[XLA909] GPU only"),
        ("train.sh", "torchrun", "# xlamig: ignore[XLA912]\ntorchrun"),
        ("pod.yaml", "gpu: 8", "gpu: 8  # xlamig: ignore[gpu-resource-request]"),
        ("ops/add.cu", "{ }", "{ }  // xlamig: ignore[XLA602] kept for GPUs, see https://example.org"),
        ("ops/add.cu", "__global__", "/* xlamig: ignore-file[XLA602] */\n__global__"),
        ("Dockerfile", "FROM", "# xlamig: ignore[XLA910]\nFROM"),
    ],
)
def test_a_comment_in_the_files_own_syntax_suppresses(project: Path, name: str, old: str, new: str) -> None:
    before = len(of(run(name if "cu" in name else "."), "XLA602")), len(run().findings)
    Path(name).write_text(Path(name).read_text().replace(old, new, 1))
    report = run()
    assert of(report, "XLA090") == [] and of(report, "XLA092") == []
    if name == "requirements.txt":  # the Dockerfile still installs it, and is no longer the second place
        assert [r.filename for r in of(report, "XLA909")[0].reasons if r.message == "also here"] == []
    else:
        assert len(report.findings) == before[1] - 1


def test_a_suppression_of_no_use_is_told_and_removed(project: Path) -> None:
    write({"clean.sh": "# xlamig: ignore[XLA912]\necho hello\n"})
    assert [f.filename for f in of(run(), "XLA090")] == ["clean.sh"]


def test_per_file_ignores_and_exclude(project: Path) -> None:
    ignored = run(overrides={"per-file-ignores": {"*.sh": ["XLA912"]}})
    assert of(ignored, "XLA912") == []
    assert of(run(overrides={"extend-exclude": ["*.sh"]}), "XLA912") == []


def test_add_ignore_silences_everything_and_changes_no_meaning(project: Path) -> None:
    engine.add_ignores([Path()], Options(isolated=True, cache=False), "GPU only")
    assert Path("ops/add.cu").read_text().startswith("// xlamig: ignore[XLA602] GPU only\n__global__")
    assert run().findings == ()


@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_and_the_cache_change_nothing(project: Path, jobs: int) -> None:
    for i in range(30):
        write({f"more/{i}.cu": f"__global__ void k{i}(float* x) {{ }}\n"})
    options = Options(isolated=True, jobs=jobs)
    first, second = (engine.check([Path()], options) for _ in range(2))
    assert first == second and told(first) == told(run())


def test_what_python_calls_is_part_of_what_a_kernel_is_judged_by(project: Path) -> None:
    binding = 'PYBIND11_MODULE(my_ops, m) { m.def("add_it", &add_it); }\n'
    host = "void add_it() { add_kernel<<<1, 1>>>(0); }\n"
    write({"bind.cpp": "#include <torch/extension.h>\n" + binding})
    write({"ops/add.cu": FILES["ops/add.cu"] + host})
    options = Options(isolated=True, jobs=1)
    engine.check([Path()], options)
    write({"train.py": "import my_ops\nmy_ops.add_it()\n"})
    kernel, call = of(engine.check([Path()], options), "XLA602")
    assert any("called in train.py, line 2" in reason.message for reason in kernel.reasons)
    assert (call.filename, call.place.location.row) == ("train.py", 2)
    assert any("the kernel is in ops/add.cu" in reason.message for reason in call.reasons)


def test_a_call_for_cuda_alone_is_not_reported(project: Path) -> None:
    binding = 'PYBIND11_MODULE(my_ops, m) { m.def("add_it", &add_it); }\n'
    host = "void add_it() { add_kernel<<<1, 1>>>(0); }\n"
    write({"bind.cpp": "#include <torch/extension.h>\n" + binding})
    write({"ops/add.cu": FILES["ops/add.cu"] + host})
    write({"train.py": "import my_ops\ndef f(x):\n    if x.is_cuda:\n        my_ops.add_it(x)\n"})
    found = of(engine.check([Path()], Options(isolated=True, jobs=1)), "XLA602")
    assert [f.filename for f in found] == ["ops/add.cu"]


def test_binary_and_large_files(project: Path) -> None:
    Path("requirements.txt").write_bytes(b"flash-attn\0\1\2")
    Path("data.yaml").write_bytes(b"torch: 1\n" * 300_000)
    report = run()
    assert [f.filename for f in of(report, "XLA000")] == ["requirements.txt"]
    assert [s.filename for s in report.skipped] == ["data.yaml"]


def test_a_malformed_file_is_a_warning_with_its_line(project: Path) -> None:
    write({"broken.yaml": "gpu: 1\nb: [1\nc: }\n"})
    (finding,) = of(run(), "XLA000")
    assert (finding.filename, finding.severity, finding.place.location.row) == ("broken.yaml", "warning", 3)


@pytest.mark.parametrize(("strategy", "device"), [("native", "xla"), ("portable", "cuda")])
def test_a_settings_file_gets_the_device_of_native_code_alone(
    project: Path, strategy: str, device: str
) -> None:
    write({"conf.yaml": "lr: 0.1\ndevice: cuda  # or cpu\n"})
    options = Options(overrides={"strategy": strategy}, isolated=True, cache=False)
    engine.fix([Path()], options, {"safe", "unsafe"}, write=True)
    assert Path("conf.yaml").read_text() == f"lr: 0.1\ndevice: {device}  # or cpu\n"


def test_mechanical_rewrites_and_unused_suppressions_are_written(project: Path) -> None:
    write({
        "clean.sh": "# xlamig: ignore[XLA912]\necho hello\n",
        "conf.yaml": "trainer:\n  accelerator: 'gpu'  # one\n",
        "more.txt": "",
        "requirements-gpu.txt": "-i https://download.pytorch.org/whl/cu121\nfaiss-gpu==1.7  # index\n",
    })  # fmt: skip
    options = Options(overrides={"strategy": "native"}, isolated=True, cache=False)
    engine.fix([Path()], options, {"safe", "unsafe"}, write=True)
    assert Path("clean.sh").read_text() == "echo hello\n"
    assert Path("conf.yaml").read_text() == "trainer:\n  accelerator: 'auto'  # one\n"
    assert Path("pod.yaml").read_text() == FILES["pod.yaml"].replace("nvidia.com/gpu", "google.com/tpu")
    expected = "-i https://download.pytorch.org/whl/cpu\nfaiss-cpu==1.7  # index\n"
    assert Path("requirements-gpu.txt").read_text() == expected
    assert Path("Dockerfile").read_text() == FILES["Dockerfile"]
    again = engine.fix([Path()], options, {"safe", "unsafe"}, write=True)
    assert again.files == ()


def test_what_keeps_cuda_running_is_all_that_portable_fixes_write(project: Path) -> None:
    options = Options(isolated=True, cache=False)
    assert engine.fix([Path()], options, {"safe", "unsafe"}, write=True).files == ()


@pytest.mark.parametrize("name", ["requirements.txt", "data.yaml", "ds_config.json", "uv.lock", "table.cu"])
def test_a_large_file_is_never_read(project: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(name).write_text("flash-attn\n" * 200)
    read: list[str] = []
    whole = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        read.append(path.name)
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    report = run(overrides={"max-file-size": 1000})
    assert name not in read and "train.sh" in read
    assert name in {skipped.filename for skipped in report.skipped}


@pytest.mark.parametrize("name", ["weights.safetensors", "model.pt", "images.bin", "table.csv", "a.json"])
def test_a_file_of_data_is_not_opened(project: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(name).write_bytes(b"cuda\0" * 30_000)  # small files of settings are read, for options
    opened: list[str] = []
    plain = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *a, **k: opened.append(path.name) or plain(path, *a, **k))
    assert name not in {skipped.filename for skipped in run().skipped}
    assert name not in opened


def test_a_binary_file_of_a_known_name_is_told(project: Path) -> None:
    Path("requirements.txt").write_bytes(b"\x00\x01\xff" * 50)
    (finding,) = [f for f in run().findings if f.filename == "requirements.txt"]
    assert finding.code == "XLA000"


@pytest.mark.parametrize("command", ["singularity exec --nv image.sif", "apptainer run --nv image.sif"])
def test_what_starts_without_a_driver_as_well_is_information(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        {
            "job.sh": f"export CUDA_VISIBLE_DEVICES=0\n{command} python train.py\n",
            "train.py": "import torch\n",
        }
    )
    assert {finding.severity for finding in of(run(), "XLA910")} == {"info"}

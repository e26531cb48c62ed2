"""The only push that an agent may make, with real git, and a server that is reached over ssh."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from ov_es_adapters.errors import BadInputError, PeerRefusedError
from ov_es_adapters.git.push_authorizations import AuthorizedDirectories, PushAuthorizations
from ov_es_adapters.git.push_helper import MARKER, PushNotAuthorizedError, authorize, push
from ov_es_adapters.runtimes.streams.policy_block import find_block

ROOMS = [str(Path(__file__).parents[3] / room) for room in ("domain", "projections", "adapters")]
REMOTE = "git@team.example:core.git"
Git = Callable[..., str]


@pytest.fixture(autouse=True)
def _person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be somebody with a git of their own, whatever this machine's says."""
    settings = tmp_path / "gitconfig"
    settings.write_text(
        "[user]\nname = Ada\nemail = ada@team.example\n[init]\ndefaultBranch = main\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("OV_ES_RUN", raising=False)
    (tmp_path / ".gitconfig").write_text(settings.read_text())


@pytest.fixture
def git() -> Git:
    def call(directory: Path, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=directory, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    return call


@pytest.fixture
def server(tmp_path: Path, git: Git) -> Path:
    """Make the team's repository, which ssh would reach."""
    folder = tmp_path / "server" / "core.git"
    folder.mkdir(parents=True)
    git(folder, "init", "--bare", "-q")
    return folder


@pytest.fixture
def clone(tmp_path: Path, server: Path, git: Git) -> Path:
    """Make a clone on an agent's branch, whose ssh is a script that runs the command here."""
    folder = tmp_path / "src" / "core"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "login.py").write_text("old\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Begin")
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nfor last; do :; done\ncd "{server.parent}" && eval "$last"\n')
    ssh.chmod(0o755)
    git(folder, "config", "core.sshCommand", str(ssh))
    git(folder, "remote", "add", "origin", REMOTE)
    git(folder, "push", "-q", "origin", "main")
    git(folder, "switch", "-q", "-c", "agent/ada-cor-5")
    (folder / "login.py").write_text("new\n")
    git(folder, "commit", "-q", "-a", "-m", "Fix the login form")
    return folder


@pytest.fixture
def authorizations(tmp_path: Path) -> PushAuthorizations:
    return PushAuthorizations(tmp_path / "home")


def test_git_107_the_agents_branch_goes_to_the_branch_of_its_name(
    clone: Path, server: Path, git: Git, authorizations: PushAuthorizations
) -> None:
    authorize(clone, authorizations)
    main = git(server, "rev-parse", "main")

    done = push(clone, authorizations)

    assert (done.root, done.remote, done.branch) == (str(clone), REMOTE, "agent/ada-cor-5")
    assert git(server, "rev-parse", "agent/ada-cor-5") == git(clone, "rev-parse", "HEAD")
    assert git(server, "rev-parse", "main") == main
    assert git(clone, "rev-parse", "--abbrev-ref", "@{upstream}") == "origin/agent/ada-cor-5"
    assert sorted(git(server, "branch", "--format=%(refname:short)").split()) == [
        "agent/ada-cor-5",
        "main",
    ]


def test_git_104_one_authorization_holds_for_all_worktrees_of_a_repository(
    clone: Path, server: Path, git: Git, authorizations: PushAuthorizations
) -> None:
    tree = clone.parent / "core-6"
    git(clone, "worktree", "add", "-q", "-b", "agent/ada-cor-6", str(tree))
    authorize(clone, authorizations)

    push(tree, authorizations)

    assert git(server, "rev-parse", "agent/ada-cor-6") == git(tree, "rev-parse", "HEAD")
    assert str(tree) in AuthorizedDirectories(authorizations)


def test_git_108_without_an_authorization_nothing_is_pushed(
    clone: Path, server: Path, git: Git, authorizations: PushAuthorizations
) -> None:
    with pytest.raises(PushNotAuthorizedError) as refusal:
        push(clone, authorizations)

    assert refusal.value.root == str(clone)
    assert git(server, "branch", "--format=%(refname:short)") == "main"


def test_git_105_a_revoked_one_is_none(clone: Path, authorizations: PushAuthorizations) -> None:
    authorize(clone, authorizations)

    assert authorizations.revoke(str(clone))
    assert not authorizations.revoke(str(clone))

    with pytest.raises(PushNotAuthorizedError):
        push(clone, authorizations)


@pytest.mark.parametrize(
    "change",
    [
        ("remote", "set-url", "origin", "git@other.example:core.git"),
        ("config", "core.sshCommand", "another-ssh"),
        ("config", "credential.helper", "!steal"),
        ("config", "http.proxy", "http://elsewhere.example"),
        ("config", "http.https://team.example.sslVerify", "false"),
    ],
    ids=lambda change: change[-2],
)
def test_git_108_what_changed_since_has_to_be_authorized_again(
    clone: Path, git: Git, authorizations: PushAuthorizations, change: tuple[str, ...]
) -> None:
    authorize(clone, authorizations)
    assert str(clone) in AuthorizedDirectories(authorizations)

    git(clone, *change)

    assert str(clone) not in AuthorizedDirectories(authorizations)
    with pytest.raises(PushNotAuthorizedError):
        push(clone, authorizations)


@pytest.mark.parametrize(
    "change",
    [
        ("config", "url.git@evil.example:.insteadOf", "git@team.example:"),
        ("config", "url.git@evil.example:.pushInsteadOf", "git@team.example:"),
        ("config", "remote.origin.pushurl", "git@evil.example:core.git"),
        ("remote", "set-url", "--add", "origin", "git@evil.example:core.git"),
        ("config", "remote.origin.vcs", "evil"),
        ("config", "extensions.worktreeConfig", "true"),
    ],
    ids=lambda change: change[-2],
)
def test_git_108_a_repository_that_leads_a_push_elsewhere_is_refused(
    clone: Path,
    git: Git,
    server: Path,
    authorizations: PushAuthorizations,
    change: tuple[str, ...],
) -> None:
    authorize(clone, authorizations)
    git(clone, *change)
    if "extensions.worktreeConfig" in change:
        git(clone, "config", "--worktree", "remote.origin.pushurl", "git@evil.example:core.git")

    with pytest.raises(BadInputError):
        push(clone, authorizations)

    assert git(server, "branch", "--format=%(refname:short)") == "main"


def test_git_108_an_included_file_is_part_of_the_settings(
    clone: Path, git: Git, tmp_path: Path, authorizations: PushAuthorizations
) -> None:
    authorize(clone, authorizations)
    (tmp_path / "more").write_text('[url "git@evil.example:"]\ninsteadOf = git@team.example:\n')
    git(clone, "config", "include.path", str(tmp_path / "more"))

    with pytest.raises(BadInputError, match="elsewhere"):
        push(clone, authorizations)


@pytest.mark.parametrize("branch", ["main", "master", "feature/x", "agentx", "agent/a;b", "HEAD~"])
def test_git_108_only_agents_branches_are_pushed(
    clone: Path, git: Git, server: Path, authorizations: PushAuthorizations, branch: str
) -> None:
    authorize(clone, authorizations)
    before = git(server, "rev-parse", "main")
    if branch == "HEAD~":
        git(clone, "switch", "-q", "--detach")
    elif branch == "main":
        git(clone, "switch", "-q", "main")
    else:
        git(clone, "switch", "-q", "-c", branch)

    with pytest.raises(BadInputError, match=r"only agent/… branches are pushed"):
        push(clone, authorizations)

    assert git(server, "rev-parse", "main") == before


@pytest.mark.parametrize(
    "address",
    [
        "/srv/git/core.git",
        "file:///srv/git/core.git",
        "../core.git",
        "ext::sh -c evil",
        "git://team.example/core.git",
        "https://ada:s3cret-token@team.example/core.git",
        "https://s3cret-token@team.example/core.git",
        "https://team.example/core.git?token=s3cret-token",
        "ada:s3cret-token@team.example:core.git",
        "ssh://git:s3cret-token@team.example/core.git",
        "https://[team.example/core.git",
        "",
    ],
)
def test_git_108_other_addresses_are_refused_and_never_shown(
    clone: Path, git: Git, authorizations: PushAuthorizations, address: str
) -> None:
    git(clone, "config", "remote.origin.url", address)

    with pytest.raises(BadInputError) as refusal:
        authorize(clone, authorizations)

    assert "s3cret" not in str(refusal.value)
    assert authorizations.all() == ()


@pytest.mark.parametrize(
    "address",
    [
        "https://team.example/core.git",
        "ssh://git@team.example:2222/core.git",
        "git@team.example:core/app.git",
        "team.example:core.git",
    ],
)
def test_git_104_a_servers_address_is_recorded_exactly(
    clone: Path, git: Git, authorizations: PushAuthorizations, address: str
) -> None:
    git(clone, "config", "remote.origin.url", address)

    authorize(clone, authorizations)

    assert [(known.root, known.remote) for known in authorizations.all()] == [
        (str(clone), address)
    ]


def test_git_109_the_repositorys_hooks_do_not_run(
    clone: Path, git: Git, authorizations: PushAuthorizations
) -> None:
    hooks = clone / "hooks"
    hooks.mkdir()
    for name in ("pre-push", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {clone}/hooked\nexit 1\n")
        (hooks / name).chmod(0o755)
    git(clone, "config", "core.hooksPath", str(hooks))
    authorize(clone, authorizations)

    push(clone, authorizations)

    assert not (clone / "hooked").exists()


def test_git_107_a_branch_that_was_rewritten_is_not_forced(
    clone: Path, git: Git, server: Path, authorizations: PushAuthorizations
) -> None:
    authorize(clone, authorizations)
    push(clone, authorizations)
    before = git(server, "rev-parse", "agent/ada-cor-5")
    git(clone, "commit", "-q", "--amend", "-m", "Another past")
    git(clone, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")

    with pytest.raises(PeerRefusedError, match=r"agent/ada-cor-5 wasn't pushed"):
        push(clone, authorizations)

    assert git(server, "rev-parse", "agent/ada-cor-5") == before


def test_an_environment_of_the_callers_changes_nothing(
    clone: Path,
    git: Git,
    server: Path,
    authorizations: PushAuthorizations,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    authorize(clone, authorizations)
    monkeypatch.setenv("GIT_SSH_COMMAND", "/bin/false")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "url.git@evil.example:.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "git@team.example:")

    push(clone, authorizations)

    monkeypatch.undo()
    assert git(server, "rev-parse", "agent/ada-cor-5")


def test_a_file_that_somebody_broke_authorizes_nothing(
    clone: Path, tmp_path: Path, authorizations: PushAuthorizations
) -> None:
    authorize(clone, authorizations)
    path = tmp_path / "home" / "push-authorizations.json"
    assert path.stat().st_mode & 0o777 == 0o600
    for content in (b"{", b"[1]", b'[{"root": 1, "remote": "x", "bends": "y"}]', b"{}x"):
        path.write_bytes(content)

        with pytest.raises(BadInputError, match="push-authorizations"):
            push(clone, authorizations)
        assert str(clone) not in AuthorizedDirectories(authorizations)


# --- as commands ---------------------------------------------------------------------------------


def _ov_es(directory: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OV_ES_")}
    home = {"OV_ES_HOME": str(Path(os.environ["HOME"]) / "home")}
    return subprocess.run(
        [sys.executable, "-m", "ov_es_adapters.cli.main", *words],
        cwd=directory,
        env={**kept, **home, "PYTHONPATH": os.pathsep.join(ROOMS), **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_git_110_a_refused_push_asks_for_what_a_stream_shows(clone: Path) -> None:
    refused = _ov_es(clone, "push-pr-branch")

    assert refused.returncode == 3
    assert refused.stdout == f"{MARKER}: {clone}\n"
    assert find_block(refused.stdout) == str(clone)
    assert "ov-es authorize-pr-push" in refused.stderr


def test_cli_5_authorized_pushed_and_revoked_without_an_argument(clone: Path) -> None:
    (clone.parents[1] / ".codex").mkdir()
    rule = clone.parents[1] / ".codex" / "rules" / "ov-es.rules"

    given = _ov_es(clone, "authorize-pr-push", "--json")
    assert (given.returncode, orjson.loads(given.stdout)["remote"]) == (0, REMOTE)
    assert 'pattern = ["ov-es", "push-pr-branch"]' in rule.read_text()

    pushed = _ov_es(clone, "push-pr-branch", "--json")
    assert orjson.loads(pushed.stdout) == {
        "root": str(clone),
        "remote": REMOTE,
        "branch": "agent/ada-cor-5",
    }

    assert _ov_es(clone, "revoke-pr-push").returncode == 0
    assert not rule.exists()
    assert _ov_es(clone, "push-pr-branch").returncode == 3


@pytest.mark.parametrize("words", [("main",), ("--force",), ("origin", "HEAD:main")])
def test_git_106_it_takes_no_argument(clone: Path, words: tuple[str, ...]) -> None:
    assert _ov_es(clone, "push-pr-branch", *words).returncode == 2


def test_git_104_a_run_cannot_authorize_itself(clone: Path) -> None:
    refused = _ov_es(clone, "authorize-pr-push", OV_ES_RUN="some-run")

    assert refused.returncode == 3
    assert "a person has to" in refused.stderr


def test_git_104_nor_by_taking_the_marker_away(clone: Path) -> None:
    script = (
        "import os, subprocess, sys; os.environ.pop('OV_ES_RUN'); "
        "sys.exit(subprocess.call([sys.executable, '-m', 'ov_es_adapters.cli.main',"
        " 'authorize-pr-push']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=clone,
        env={
            **os.environ,
            "OV_ES_RUN": "some-run",
            "OV_ES_HOME": str(clone.parents[1] / "home"),
            "PYTHONPATH": os.pathsep.join(ROOMS),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 3
    assert not (clone.parents[1] / "home").exists()


def test_outside_of_a_repository_each_says_so(tmp_path: Path) -> None:
    for name in ("authorize-pr-push", "push-pr-branch", "revoke-pr-push"):
        done = _ov_es(tmp_path, name)

        assert done.returncode == 2
        assert "isn't inside a git repository" in done.stderr

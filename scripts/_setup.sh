# Sourced by the scripts beside it: finds a Python, makes .venv once, and again when it no longer fits.
#
#   set_up LEVEL    LEVEL is run, test or check; each holds the ones before it
#
# Source it by its real, absolute path. A start that needs nothing reads a few files and runs readlink.
# Nothing here prints to stdout, and each Python runs with -I: it takes no module from the caller's
# folder or PYTHONPATH.
# shellcheck shell=bash

root=${BASH_SOURCE[0]%/scripts/_setup.sh}
venv=$root/.venv
pythons=(python3 python3.1{4,3,2,1} python)
unfinished=$venv/.nocturn-unfinished # there while packages are written: found later, it means a kill

set_up() {
  local level=$1 python log
  is_ready "$level" && return
  say "setting up (once) …"
  python=$(find_python) || refuse_python
  # Held by this shell until the set-up ends, however it ends. Python has flock on every system.
  { exec 9<>"$root/scripts/_setup.sh"; } 2>/dev/null ||
    fail "cannot write to $root, where it sets itself up; copy it to a folder of your own"
  "$python" -Ic 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)' || fail "the set-up could not be locked"
  if ! is_ready "$level"; then
    log=$(build "$python" "$level" 2>&1) || {
      printf '%s\n' "$log" >&2
      fail "set-up failed, see above: it needs the network (or an index that pip.conf or uv.toml names)" \
        "and room in $venv; then start it again, or remove that folder first"
    }
  fi
  exec 9>&-
}

# The stamp is the very text of what was installed from: comparing it takes no hash program.
is_ready() {
  [[ -x $venv/bin/python && -x $venv/bin/nocturn && -r $venv/.nocturn-$1 ]] || return
  local stamp found
  make_stamp
  slurp found "$venv/.nocturn-$1"
  [[ $found == "$stamp" ]]
}

# Sets `stamp`. The real path changes when the system's Python does, and the root when the project moves.
make_stamp() {
  local project versions
  slurp project "$root/pyproject.toml"
  slurp versions "$root/constraints.txt"
  stamp=$root$'\n'$(readlink -f -- "$venv/bin/python")$'\n'$project$versions
}

slurp() { IFS= read -r -d '' "$1" <"$2" || :; } # $(<file) would fork

build() {
  local python=$1 level=$2 status=0 each stamp
  cd -- "$root" || return
  can_keep_venv || make_venv "$python" || return
  touch "$unfinished"
  install_packages "$level" || status=$?
  rm -f -- "$unfinished"
  ((status == 0)) || return "$status"
  make_stamp
  for each in run test check; do
    printf %s "$stamp" >"$venv/.nocturn-$each"
    [[ $each != "$level" ]] || break
  done
}

# A .venv is kept if its Python runs, no kill left it half-written, and it was not moved or copied here.
can_keep_venv() {
  local made_in
  [[ ! -e $unfinished ]] && "$venv/bin/python" -Ic '' &>/dev/null || return
  if [[ -r $venv/.nocturn-run ]]; then
    read -r made_in <"$venv/.nocturn-run"
    [[ $made_in == "$root" ]]
  fi
}

make_venv() {
  rm -rf -- "$venv"
  if has_uv && uv venv --quiet --python "$1" -- "$venv"; then return; fi
  rm -rf -- "$venv"
  "$1" -Im venv --without-pip -- "$venv"
}

install_packages() {
  local -a wanted=(-c constraints.txt -e .)
  local groups each
  groups=$(list_groups "$1") || return
  while IFS= read -r each; do wanted+=(${each:+"$each"}); done <<<"$groups"
  if has_uv && uv pip install --quiet --python "$venv/bin/python" "${wanted[@]}"; then return; fi
  # A uv that is too old, or that doesn't know the certificates and indexes that pip knows.
  "$venv/bin/python" -Im pip --version &>/dev/null || "$venv/bin/python" -Im ensurepip >/dev/null || return
  "$venv/bin/python" -Im pip install --quiet --disable-pip-version-check "${wanted[@]}"
}

# Prints the requirements of the dependency groups up to a level; pip knows groups only since 25.1.
list_groups() {
  "$venv/bin/python" -I - pyproject.toml "$1" <<'PYTHON'
import sys, tomllib

path, level = sys.argv[1:]
with open(path, "rb") as file:
    groups = tomllib.load(file)["dependency-groups"]
for name in {"run": (), "test": ("test",), "check": ("test", "check")}[level]:
    print(*groups[name], sep="\n")
PYTHON
}

# Prints the path of a Python that is new enough and able. Each is run: a pyenv shim may only look like one.
find_python() {
  local name
  for name in "${pythons[@]}"; do
    if "$name" -Ic "$(able_to "import venv$(has_uv || echo ', ensurepip')")" 2>/dev/null </dev/null; then return; fi
  done
  # Without one, uv can bring its own.
  has_uv && uv python install 3.13 >&2 && uv python find --quiet '>=3.11'
}

able_to() {
  printf '%s\n' 'import sys' 'assert sys.version_info >= (3, 11)' \
    'assert sys.implementation.name == "cpython"' "$1" 'print(sys.executable)'
}

refuse_python() {
  local name
  for name in "${pythons[@]}"; do
    if "$name" -Ic "$(able_to pass)" &>/dev/null </dev/null; then
      fail "$name has no venv or ensurepip, so it cannot make $venv;" \
        "on Debian and Ubuntu: apt install python3-venv; or install uv"
    fi
  done
  ! has_uv || fail "needs Python 3.11 or newer: none is on PATH, and uv could not bring one; install one"
  fail "needs Python 3.11 or newer: none is on PATH; install one, or uv, which brings its own"
}

has_uv() { uv --version &>/dev/null </dev/null; }

say() { printf 'nocturn: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 125
}

#!/bin/sh
# Installs claude-code-nvim and its Neovim plugin from a release, for users without a plugin
# manager and without Homebrew. `sh install.sh --help` lists the options.
#
# The copy that belongs to a release carries the version and the checksums of that release: it
# needs nothing from the server but the archive. A copy without them, or one that is asked for
# another version, takes the release's SHA256SUMS. An archive that cannot be checked is not
# installed.
set -eu

repository=claude-code-nvim/claude-code.nvim
releases=https://github.com/$repository/releases
# scripts/release writes both.
own_version=''
own_sums=''

usage() {
  cat <<EOF
Usage: sh install.sh [--version X.Y.Z] [--mirror URL]
       sh install.sh --uninstall

  --version X.Y.Z  the release; if not given, ${own_version:-the newest}
  --mirror URL     where the archives are, each at URL/vX.Y.Z/FILE

It installs below ${XDG_DATA_HOME:-~/.local/share}, where Neovim finds the plugin.
EOF
}

main() {
  version='' mirror=$releases/download uninstall=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version) version=${2:?--version needs a version} && shift 2 ;;
      --mirror) mirror=${2:?--mirror needs a URL} && shift 2 ;;
      --uninstall) uninstall=yes && shift ;;
      --help) usage && exit ;;
      *) fail "unknown argument $1; --help lists the known ones" ;;
    esac
  done
  case $mirror in
    https://* | http://127.0.0.1:*) mirror=${mirror%/} ;;
    *) fail "the mirror $mirror is not https" ;;
  esac
  # As in lua/claude-code/install/store.lua: each version has a folder of its own, the stable path leads to one.
  case ${XDG_DATA_HOME:-} in
    /*) data=$XDG_DATA_HOME ;;
    *) data=${HOME:?}/.local/share ;;
  esac
  root=$data/claude-code.nvim
  stable=$root/bin/claude-code-nvim
  # None may reach a program that Bun compiled: they make it run other code or open a debugger's port.
  unset BUN_OPTIONS BUN_BE_BUN BUN_INSPECT BUN_INSPECT_CONNECT_TO BUN_INSPECT_NOTIFY BUN_INSPECT_PRELOAD
  if [ -n "$uninstall" ]; then
    [ -x "$stable" ] || fail "$stable is missing: nothing is installed"
    (cd / && "$stable" uninstall) || exit 1
    exit
  fi
  need tar gzip
  command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1 ||
    fail "neither curl nor wget is installed; install one of them first"
  hasher
  target=$(target)
  [ -n "$version" ] || version=${own_version:-$(newest_version)}
  version=${version#v}
  # It becomes part of file names and addresses.
  case $version in
    *[!0-9A-Za-z.+-]*) fail "$version is not a version such as 1.2.3" ;;
  esac
  # A server that never ends its answer must not fill the disk: 512 MB in units of 512 bytes.
  ulimit -f 1048576 2>/dev/null || true

  # Everyone may read the installed files, and no one else may change them.
  umask 022
  # Neovim loads every plugin in this folder.
  start=$data/${NVIM_APPNAME:-nvim}/site/pack/claude-code.nvim/start
  plugin=$start/claude-code.nvim
  mkdir -p "$root/bin" "$root/download" "$start" || fail "the folders $root and $start cannot be made"
  for folder in "$root/bin" "$root/download" "$start"; do
    while [ "$folder" != "${data%/*}" ]; do
      is_own "$folder" ||
        fail "another user can write to $folder and would decide what runs; correct its owner and mode, or set \$XDG_DATA_HOME"
      folder=${folder%/*}
    done
  done
  [ -L "$plugin" ] || [ ! -e "$plugin" ] || fail "$plugin is not a symlink of this script: move it away first"
  # Those of runs that were killed, but not of one that runs now.
  find "$root/download" -maxdepth 1 -name 'install.??????' -mmin +60 -exec rm -rf {} + 2>/dev/null || true
  # Beside the place of the executable: a temporary folder may refuse to run programs, or be small.
  work=$(mktemp -d "$root/download/install.XXXXXX") || fail "$root/download is not writable"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  name=claude-code-nvim-$version-$target
  sums "$version" >"$work/SHA256SUMS"
  fetch "$mirror/v$version/$name.tar.gz" "$work/$name.tar.gz"
  check "$work" "$name.tar.gz"
  check_entries "$work/$name.tar.gz" "$name"
  tar -x -z -o -f "$work/$name.tar.gz" -C "$work" ||
    fail "the archive cannot be unpacked in $root (is the disk full?)"
  (cd / && "$work/$name/claude-code-nvim" --version >/dev/null) || fail "$(cannot_run)"
  place "$work/$name" "$root/$version-$target"
  echo "claude-code.nvim $version is installed; its executable is $stable."
  echo "Put into Neovim's init.lua:"
  echo '  require("claude-code").setup({})'
}

# place UNPACKED FOLDER: moves a version to its folder: the executable by a rename, so that there is one at every
# moment, and the rest as a whole, since no file of an older version may stay where Neovim would load it. Then both
# symlinks lead there. The version before stays; older ones go.
place() {
  before=$(readlink "$stable" || true)
  before=${before%/*}
  mkdir -p "$2" "$work/old"
  mv -f "$1/claude-code-nvim" "$2/claude-code-nvim"
  for part in "$2"/*; do
    [ "${part##*/}" = claude-code-nvim ] || mv "$part" "$work/old"
  done
  mv "$1"/* "$2"
  ln -s "../${2##*/}/claude-code-nvim" "$work/link"
  mv -f "$work/link" "$stable"
  ln -sfn "$2" "$plugin"
  find "$root" -maxdepth 1 -type d -name '[0-9]*.*.*-*-*' -mmin +10 \
    ! -name "${2##*/}" ! -name "${before##*/}" -exec rm -rf {} + 2>/dev/null || true
}

# is_own FOLDER: does it belong to this user or root, so that not everybody can put programs into it? So must a
# symlink to it. A group may write, as in /usr/local of some systems. In a folder as /tmp everybody may add
# files, not replace them.
is_own() {
  [ -z "$(find "$1" "$1/." -maxdepth 0 \( ! -user "$(id -u)" ! -user 0 -o ! -type l -perm -0002 ! -perm -1000 \) \
    2>/dev/null)" ]
}

# Why the program that was unpacked does not start.
cannot_run() {
  reason="the executable for $target does not run on this machine"
  if ! runs_programs "$work"; then
    reason="the file system of $root does not run programs (noexec); set \$XDG_DATA_HOME to a folder elsewhere"
  elif [ -e /etc/NIXOS ]; then
    reason="$reason: NixOS needs nix-ld for it, or build it from source"
  else
    case $target in
      *-musl) reason="$reason (it needs libstdc++: apk add libstdc++)" ;;
      darwin-*) reason="$reason (it needs macOS 13 or newer)" ;;
    esac
  fi
  echo "$reason"
}

# runs_programs FOLDER: may programs in it be started?
runs_programs() {
  printf '#!/bin/sh\n' >"$1/probe" && chmod 755 "$1/probe" && "$1/probe" 2>/dev/null
}

# sums VERSION: the checksums of that release's archives, as sha256sum writes them.
sums() {
  if [ "$1" = "$own_version" ]; then
    echo "$own_sums"
  else
    fetch "$mirror/v$1/SHA256SUMS" "$work/sums"
    cat "$work/sums"
  fi
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

need() {
  for tool; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing; install it first"
  done
}

# As in lua/claude-code/install/release.lua: the C library is that of the system's own shell.
target() {
  case ${TERMUX_VERSION:+termux} in
    termux) fail "there is no executable for Termux; build it from source" ;;
  esac
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no executable for $(uname -s); build it from source" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there is no executable for $(uname -m); build it from source" ;;
  esac
  # A shell under Rosetta says x86_64.
  if [ "$system-$machine" = darwin-x64 ] &&
    [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
    machine=arm64
  fi
  libc=''
  if [ "$system" = linux ] && head -c 8192 /bin/sh | grep -q /ld-musl-; then
    libc=-musl
  fi
  echo "$system-$machine$libc"
}

# The page of the newest release is at an address that ends in its tag.
newest_version() {
  if command -v curl >/dev/null 2>&1; then
    page=$(curl -fsSLI --proto '=https' --max-redirs 10 --max-time 60 -o /dev/null -w '%{url_effective}' "$releases/latest")
  else
    need wget timeout
    page=$(redirects "$releases/latest" | tail -n 1)
  fi || page=''
  case $page in
    */releases/tag/v*) echo "${page##*/v}" ;;
    *) fail "the newest version cannot be found out; name one by --version" ;;
  esac
}

# fetch URL FILE: an address that is not https is not followed.
fetch() {
  if command -v curl >/dev/null 2>&1; then
    case $1 in
      http://127.0.0.1:*) set -- "$@" --proto '=http' --noproxy 127.0.0.1 ;;
      *) set -- "$@" --proto '=https' --tlsv1.2 ;;
    esac
    url=$1 file=$2
    shift 2
    curl -fsSL --proto-redir '=https' --max-redirs 10 --connect-timeout 20 --max-time 1800 \
      --max-filesize 536870912 --speed-limit 1024 --speed-time 30 "$@" -o "$file" "$url" || fail "$(cannot_fetch "$url")"
  else
    need wget timeout
    # It follows any redirect, and the sums of a release are checked against nothing.
    case $(redirects "$1") in
      *[Hh][Tt][Tt][Pp]:*) fail "$1 redirects to an address that is not https" ;;
    esac
    timeout 1800 wget -q -T 30 -O "$2" "$1" || fail "$(cannot_fetch "$1")"
  fi
}

# redirects URL: where wget would be sent to, a line each.
redirects() {
  timeout 60 wget -S --spider -T 30 -O /dev/null "$1" 2>&1 | sed -n 's/^ *[Ll]ocation: *\([^ ]*\).*/\1/p'
}

# cannot_fetch URL: why it failed. The received part of the file still takes up space.
cannot_fetch() {
  if printf '%8192s' '' 2>/dev/null >"$work/probe"; then
    echo "cannot download $1"
  else
    echo "the disk of $root has no room for $1"
  fi
}

hasher() {
  for hash in sha256sum shasum openssl; do
    ! command -v "$hash" >/dev/null 2>&1 || return 0
  done
  fail "the archive could not be checked: sha256sum, shasum and openssl are missing"
}

sha256() {
  case $hash in
    sha256sum) sha256sum <"$1" ;;
    shasum) shasum -a 256 <"$1" ;;
    openssl) openssl dgst -sha256 -r <"$1" ;;
  esac | cut -c 1-64
}

# check FOLDER FILE
check() {
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $(echo "$2" | sed 's/\./\\./g')\$/\1/p" "$1/SHA256SUMS")
  [ -n "$wanted" ] || fail "SHA256SUMS does not name $2, so it cannot be checked"
  found=$(sha256 "$1/$2")
  [ "$found" = "$wanted" ] ||
    fail "$2 is damaged or was tampered with: its SHA-256 is $found instead of $wanted"
}

# check_entries ARCHIVE FOLDER: a release has files and folders below FOLDER, and nothing else. tar would follow
# links, and give files their setuid bits when root unpacks.
check_entries() {
  tar -t -z -f "$1" >"$work/names" || fail "the archive cannot be read in $work (is the disk full?)"
  tar -t -v -z -f "$1" >"$work/modes" || fail "the archive cannot be read in $work (is the disk full?)"
  while IFS= read -r entry; do
    case /$entry/ in
      */../*) ;;
      "/$2/"*) continue ;;
    esac
    fail "the archive was not unpacked: it names $entry"
  done <"$work/names"
  if grep -v -q '^[-d][-rwx]\{9\}' "$work/modes" || grep -q -e ' -> ' -e ' link to ' "$work/modes"; then
    fail "the archive was not unpacked: it has links, devices or setuid bits"
  fi
}

main "$@"

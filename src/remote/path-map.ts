import { homedir } from "node:os";
import { Failure } from "../lib/errors";
import { isObject } from "../lib/json";
import { isSameFile, MAX_PATH, realPath } from "../lib/paths";
import { IS_WINDOWS, NO_NAME, normal } from "../lib/platform";

/** The remote's and this machine's name of a shared folder. */
export interface Mapping {
  readonly remote: string;
  readonly host: string;
}

/** The disk of this machine. */
export interface Disk {
  readonly style: PathStyle;
  /** Resolves symlinks, as far as the path exists. */
  real(path: string): string;
  /** True if names in the folder that differ only in case are the same file. */
  folds(folder: string): boolean;
}

const HERE: Disk = {
  style: IS_WINDOWS ? "win32" : "posix",
  real: realPath,
  folds(folder) {
    const upper = folder.toUpperCase();
    return IS_WINDOWS || (upper !== folder && isSameFile(folder, upper));
  },
};

interface Pair {
  readonly remote: Place;
  readonly host: Place;
  /** The folder's real path when the map was made. If a symlink replaces the folder later, it is not followed. */
  readonly real: Place;
  readonly folding: Folding;
}

/**
 * Translates paths in the folders that a remote and this machine share. A path outside of them, by its name or through
 * symlinks, has no translation. If mappings overlap, the longest folder counts.
 */
export class PathMap {
  readonly #pairs: readonly Pair[];
  /** Patterns for the folders of this machine that have another name in the remote. The longest comes first. */
  readonly #quoted: readonly (readonly [host: RegExp, remote: string])[];
  /** Matches an absolute path, or one that begins with `~`, outside of the remote's folders. */
  readonly #foreign: RegExp;

  /** `style` is the remote's. Throws Failure for a folder that cannot be shared. */
  constructor(
    mappings: readonly Mapping[],
    readonly style: PathStyle,
    private readonly disk: Disk = HERE,
  ) {
    this.#pairs = mappings.map(({ remote, host }) => {
      if (!isShareable(host, disk)) throw unusable(host);
      return {
        remote: named(remote, style),
        host: named(host, disk.style),
        real: named(disk.real(host), disk.style),
        folding: disk.folds(host) ? "case" : "none",
      };
    });
    // If a shared folder contains another one, the remote can replace the inner one with a symlink.
    const astray = this.#pairs.find(({ host, real }) =>
      this.#pairs.some(
        (one) => isWithin(host, one.host, "none") && !isWithin(real, one.real, "none"),
      ),
    );
    if (astray) throw unusable(writePlace(astray.host, disk.style));
    this.#quoted = this.#pairs
      .flatMap(({ remote, host, real }) => [host, real].map((one) => [one, remote] as const))
      .map(([host, remote]) => [writePlace(host, disk.style), writePlace(remote, style)] as const)
      .filter(([host, remote]) => host !== remote)
      .sort(([a], [b]) => b.length - a.length)
      .map(([host, remote]) => [new RegExp(BEGIN + literal(host) + END, "gu"), remote] as const);
    const roots = this.#pairs.map(({ remote }) => literal(writePlace(remote, style)) + END);
    const own = roots.length > 0 ? `(?!${roots.join("|")})` : "";
    this.#foreign = new RegExp(
      `${BEGIN}${own}(?:~?/(?=[^\\s/])|[A-Za-z]:[\\\\/]|\\\\{2}(?=\\w))`,
      "u",
    );
  }

  /** The real paths of the folders on this machine. */
  get folders(): string[] {
    return this.#pairs.map(({ real }) => normal(writePlace(real, this.disk.style)));
  }

  /** Undefined for a path outside the shared folders. */
  toHost(path: string): string | undefined {
    const host = this.#hostOf(path);
    return host !== undefined && this.#realInside(host) !== undefined ? host : undefined;
  }

  /** As toHost, but resolves symlinks. If the result later has another real path, the remote has moved the file. */
  toRealHost(path: string): string | undefined {
    const host = this.#hostOf(path);
    return host === undefined ? undefined : this.#realInside(host);
  }

  /** Undefined if the remote must not learn of the file. */
  toRemote(path: string): string | undefined {
    if (this.#realInside(path) === undefined) return undefined;
    const found = this.#remoteOf(path, "host") ?? this.#remoteOf(this.disk.real(path), "real");
    // A longer mapping may give that name to another folder.
    const isSeen = found && this.#hostOf(found.remote) === found.host;
    return isSeen ? found.remote : undefined;
  }

  /** Replaces the names of shared folders in a text. */
  textToRemote(text: string): string {
    return this.#quoted.reduce((all, [host, remote]) => all.replaceAll(host, () => remote), text);
  }

  /** The same for all texts in plain data, including the keys of objects. */
  dataToRemote(value: unknown): unknown {
    if (typeof value === "string") return this.textToRemote(value);
    if (Array.isArray(value)) return value.map((one) => this.dataToRemote(one));
    if (!isObject(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map((entry) => entry.map((one) => this.dataToRemote(one))));
  }

  /** The same for an error. Cuts it before the first path that the remote must not learn of. */
  errorToRemote(text: string): string {
    const mapped = this.textToRemote(text);
    const at = mapped.search(this.#foreign);
    return at < 0 ? mapped : `${mapped.slice(0, at)}…`;
  }

  #hostOf(path: string): string | undefined {
    const place = parsePlace(path, this.style);
    const pair = place && this.#longest("remote", place);
    if (!pair) return undefined;
    const names = [...pair.host.names, ...place.names.slice(pair.remote.names.length)];
    return written({ root: pair.host.root, names }, this.disk.style);
  }

  #remoteOf(path: string, side: "host" | "real"): Mapping | undefined {
    const place = parsePlace(path, this.disk.style);
    const pair = place && this.#longest(side, place);
    if (!pair) return undefined;
    const rest = place.names.slice(pair[side].names.length);
    const at = (folder: Place, style: PathStyle) =>
      written({ root: folder.root, names: [...folder.names, ...rest] }, style);
    const [remote, host] = [at(pair.remote, this.style), at(pair.host, this.disk.style)];
    return remote === undefined || host === undefined ? undefined : { remote, host };
  }

  /** The pair with the longest folder on this side, and then the longest one in the remote. */
  #longest(side: "remote" | "host" | "real", place: Place): Pair | undefined {
    const there = this.style === "win32" ? "case" : "composition";
    const rank = (pair: Pair) => pair[side].names.length * 10_000 + pair.remote.names.length;
    return this.#pairs
      .filter((pair) => isWithin(place, pair[side], side === "remote" ? there : pair.folding))
      .sort((a, b) => rank(b) - rank(a))[0];
  }

  #realInside(host: string): string | undefined {
    if (!parsePlace(host, this.disk.style)) return undefined;
    const real = this.disk.real(host);
    const place = parsePlace(real, this.disk.style);
    return place && this.#longest("real", place) ? real : undefined;
  }
}

/** A whole disk and a home folder cannot be shared. */
function isShareable(path: string, disk: Disk): boolean {
  const [folder, home] = [path, homedir()].map((one) => parsePlace(disk.real(one), disk.style));
  if (!folder || folder.names.length === 0) return false;
  return !home || !isWithin(home, folder, disk.folds(path) ? "case" : "none");
}

function named(path: string, style: PathStyle): Place {
  const place = parsePlace(path, style);
  if (place && place.names.length > 0) return place;
  throw unusable(path);
}

function unusable(path: string): Failure {
  return new Failure(
    `the folder ${JSON.stringify(path.slice(0, 300))} cannot be shared: give the absolute path of a project's folder. ` +
      "Neither a disk nor a home folder can be shared, nor a folder that a symlink leads out of another one",
  );
}

/** The path of a place; undefined if it would name another place in this style. */
function written(place: Place, style: PathStyle): string | undefined {
  const path = writePlace(place, style);
  return Bun.deepEquals(parsePlace(path, style), place) ? path : undefined;
}

/** A path can begin at BEGIN in a text, and a folder's name can end at END. */
const BEGIN = "(?<![\\p{L}\\p{N}_.<-])";
const END = "(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])";

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/* Paths as text, in the style of either system. Nothing below looks at a disk. */

export type PathStyle = "posix" | "win32";

/** A path in normal form. */
export interface Place {
  /** `/`, a drive as `C:\`, or a share as `\\server\share\`. */
  readonly root: string;
  readonly names: readonly string[];
}

/** `wsl$` is the older name of `wsl.localhost`. */
const SHARE = /^[\\/]{2}([^\\/?.][^\\/]*)[\\/]+([^\\/]+)(?:[\\/]+|$)/;
const DRIVE = /^([A-Za-z]):[\\/]+/;

/** Undefined if the path is not absolute, contains control characters, or cannot name a file. */
function parsePlace(path: string, style: PathStyle): Place | undefined {
  if (Buffer.byteLength(path) > MAX_PATH[style] || /\p{Cc}/u.test(path)) return undefined;
  if (style === "posix") return path.startsWith("/") ? place("/", path.split("/")) : undefined;
  const plain = path.replace(/^[\\/]{2}\?[\\/](UNC[\\/])?/i, (_, share) => (share ? "\\\\" : ""));
  const drive = DRIVE.exec(plain);
  const share = drive ? null : SHARE.exec(plain);
  const [whole] = drive ?? share ?? [];
  if (whole === undefined) return undefined;
  const server = share?.[1]?.toLowerCase().replace(/^wsl\$$/, "wsl.localhost");
  const root = drive ? `${drive[1]?.toUpperCase()}:\\` : `\\\\${server}\\${share?.[2]}\\`;
  const found = place(root, plain.slice(whole.length).split(/[\\/]/));
  return found.names.some((name) => NO_NAME.test(name)) ? undefined : found;
}

function writePlace({ root, names }: Place, style: PathStyle): string {
  return root + names.join(style === "win32" ? "\\" : "/");
}

/** "composition": é may be one character or two. "case": names also match if they differ in case. */
type Folding = "none" | "composition" | "case";

function isWithin(place: Place, folder: Place, folding: Folding): boolean {
  const same = (a = "", b = "") => a === b || folded(a, folding) === folded(b, folding);
  return (
    same(place.root, folder.root) && folder.names.every((name, i) => same(place.names[i], name))
  );
}

function place(root: string, parts: readonly string[]): Place {
  const names: string[] = [];
  for (const part of parts) {
    if (part === "..") names.pop();
    else if (part !== "" && part !== ".") names.push(part);
  }
  return { root, names };
}

function folded(name: string, folding: Folding): string {
  if (folding === "none") return name;
  const composed = name.normalize("NFC");
  return folding === "case" ? composed.toLowerCase() : composed;
}

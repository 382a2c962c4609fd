import { homedir } from "node:os";
import { Failure } from "../lib/errors";
import { isObject } from "../lib/json";
import { realPath, statOf } from "../lib/paths";

/** One folder, as the remote and as this machine name it. */
export interface Mapping {
  readonly remote: string;
  readonly host: string;
}

/** The disk of this machine. */
export interface Disk {
  readonly style: PathStyle;
  /** With symlinks resolved, as far as the path exists. */
  real(path: string): string;
  /** Whether names that differ only in case are one file there. */
  folds(folder: string): boolean;
}

const HERE: Disk = {
  style: process.platform === "win32" ? "win32" : "posix",
  real: realPath,
  folds: (folder) => process.platform === "win32" || isSameFile(folder, folder.toUpperCase()),
};

interface Pair {
  readonly remote: Place;
  readonly host: Place;
  /** The folder's real path when the map was made: a symlink that replaces it leads nowhere. */
  readonly real: Place;
  readonly folds: boolean;
}

type Side = "remote" | "host" | "real";

/**
 * Paths of the folders that a remote and this machine share. A path outside of them, by its name or by where symlinks
 * lead, has no path on the other side. If mappings overlap, the longest folder counts.
 */
export class PathMap {
  readonly #pairs: readonly Pair[];
  /** In a text, each folder of this machine that has another name there, the longest first. */
  readonly #quoted: readonly (readonly [host: RegExp, remote: string])[];
  /** In a text, the first path, absolute or of a home, that begins with none of the remote's folders. */
  readonly #foreign: RegExp;

  /** `style`: that of the remote. Throws Failure for a folder that cannot be shared. */
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
        folds: disk.folds(host),
      };
    });
    // The remote can replace a folder that lies in another one by a symlink.
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

  /** Those of this machine, by their real paths. */
  get folders(): string[] {
    return this.#pairs.map(({ real }) => writePlace(real, this.disk.style));
  }

  /** Undefined for a path outside the shared folders. */
  toHost(path: string): string | undefined {
    const host = this.#hostOf(path);
    return host !== undefined && this.#realInside(host) !== undefined ? host : undefined;
  }

  /** As toHost, with symlinks resolved: resolving it again later shows whether the remote has moved it since. */
  toRealHost(path: string): string | undefined {
    const host = this.#hostOf(path);
    return host === undefined ? undefined : this.#realInside(host);
  }

  /** undefined: the remote must not learn of it. */
  toRemote(path: string): string | undefined {
    if (this.#realInside(path) === undefined) return undefined;
    const found = this.#remoteOf(path, "host") ?? this.#remoteOf(this.disk.real(path), "real");
    // A longer mapping may have another folder under that name.
    const isSeen = found && this.#hostOf(found.remote) === found.host;
    return isSeen ? found.remote : undefined;
  }

  /** A text that quotes paths of this machine, with the remote's names of the shared folders. */
  textToRemote(text: string): string {
    return this.#quoted.reduce((all, [host, remote]) => all.replaceAll(host, () => remote), text);
  }

  /** The same of each text in plain data, the keys of objects, too. */
  dataToRemote(value: unknown): unknown {
    if (typeof value === "string") return this.textToRemote(value);
    if (Array.isArray(value)) return value.map((one) => this.dataToRemote(one));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, one]) => [
      this.textToRemote(key),
      this.dataToRemote(one),
    ]);
    return Object.fromEntries(entries);
  }

  /** The same of an error, which ends before the first path that the remote must not learn of. */
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

  /** The longer folder there wins if two are equally long here. */
  #longest(side: Side, place: Place): Pair | undefined {
    const rank = (pair: Pair) => pair[side].names.length * 10_000 + pair.remote.names.length;
    return this.#pairs
      .filter((pair) => isWithin(place, pair[side], this.#folding(side, pair)))
      .sort((a, b) => rank(b) - rank(a))[0];
  }

  #folding(side: Side, { folds }: Pair): Folding {
    if (side === "remote") return this.style === "win32" ? "case" : "composition";
    return folds ? "case" : "none";
  }

  #realInside(host: string): string | undefined {
    if (!parsePlace(host, this.disk.style)) return undefined;
    const real = this.disk.real(host);
    const place = parsePlace(real, this.disk.style);
    return place && this.#longest("real", place) ? real : undefined;
  }
}

/** No disk, and no home folder. */
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
    `the folder ${JSON.stringify(path.slice(0, 300))} cannot be shared: name that of a project, by its absolute path; ` +
      "no disk, no home folder, and none that a symlink leads out of another one",
  );
}

/** undefined: in this style, the names would be those of another place. */
function written(place: Place, style: PathStyle): string | undefined {
  const path = writePlace(place, style);
  return Bun.deepEquals(parsePlace(path, style), place) ? path : undefined;
}

/** The places where a path can begin in a text, and where the name of a folder ends. */
const BEGIN = "(?<![\\p{L}\\p{N}_.<-])";
const END = "(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])";

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function isSameFile(a: string, b: string): boolean {
  const [one, other] = [statOf(a), statOf(b)];
  return a !== b && one?.ino === other?.ino && one?.dev === other?.dev && one !== undefined;
}

/** Paths as mere words, in the style of either system: what names a file, without a look at any disk. */
import { MAX_PATH } from "../lib/paths";

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
/** Names that Windows takes for a device, or for another name. */
const NO_NAME = /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** undefined if the path is not absolute, holds control characters, or cannot be a file's. */
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

/** How the names of a system are compared: as `e` with an accent is one letter or two, and by case. */
type Folding = "none" | "composition" | "case";

/** Whether `place` is `folder` or lies below it. */
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

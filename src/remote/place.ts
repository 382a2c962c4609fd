/** Paths as words alone, in the style of either system: what names a file, without a look at any disk. */
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
/** What Windows takes for a device, or for another name than it is. */
const NO_NAME = /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** undefined where the path is not absolute, holds control characters, or cannot be a file's. */
export function parsePlace(path: string, style: PathStyle): Place | undefined {
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

export function writePlace({ root, names }: Place, style: PathStyle): string {
  return root + names.join(style === "win32" ? "\\" : "/");
}

/** How the names of a system are compared: as `e` with an accent is one letter or two, and by case. */
export type Folding = "none" | "composition" | "case";

/** Whether `place` is `folder` or lies below it. */
export function isWithin(place: Place, folder: Place, folding: Folding): boolean {
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

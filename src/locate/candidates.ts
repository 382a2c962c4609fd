import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { Tie } from "./binding";
import { type Entry, entries } from "./registry";

/** A Neovim that may be the one a CLI works with, and how it was found, for the log. */
export interface Candidate {
  address: string;
  origin: string;
}

/** A project's own note of its Neovim, below its top folder. */
export const NOTE = join(".nvim-claude", "nvim-server");
const NOTE_LIMIT_BYTES = 4096;

/**
 * The Neovims to try for a CLI that works in `places` (its project, its working folder), best
 * first: the one it runs in, the one it is connected to, the one that `tie` keeps it to, the one
 * that the project names, the one with the deepest workspace around it. Each address comes once.
 */
export function* candidates(
  places: readonly string[],
  tie?: Tie,
  env: Record<string, string | undefined> = process.env,
): Generator<Candidate> {
  const seen = new Set<string>();
  for (const candidate of inOrder(places.map(realFolder), tie, env)) {
    if (seen.has(candidate.address)) continue;
    seen.add(candidate.address);
    yield candidate;
  }
}

function* inOrder(
  places: readonly string[],
  tie: Tie | undefined,
  env: Record<string, string | undefined>,
): Generator<Candidate> {
  const nvim = env.NVIM;
  if (nvim) yield { address: nvim, origin: "$NVIM" };
  const known = entries();
  const port = Number(env.CLAUDE_CODE_SSE_PORT);
  for (const { address } of known.filter((entry) => entry.port === port)) {
    yield { address, origin: "$CLAUDE_CODE_SSE_PORT" };
  }
  const tied = tie?.address(known);
  if (tied) yield { address: tied, origin: "what it used before" };
  for (const place of places) {
    const noted = findNote(place, known);
    if (noted) yield { address: noted.address, origin: NOTE };
    for (const { address } of around(place, known)) {
      yield { address, origin: `the workspace around ${place}` };
    }
  }
}

/**
 * The running Neovim that the nearest note upwards names. The project may be hostile: its note
 * only ever chooses among the Neovims that we know to have a workspace there.
 */
function findNote(place: string, known: readonly Entry[]): Entry | undefined {
  for (let folder = place; ; folder = dirname(folder)) {
    const address = readNote(join(folder, NOTE));
    if (address !== undefined) {
      return known.find(
        (entry) =>
          entry.address === address &&
          entry.workspaceFolders.some((own) => contains(own, folder) || contains(folder, own)),
      );
    }
    if (dirname(folder) === folder) return undefined;
  }
}

function readNote(path: string): string | undefined {
  try {
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.size > NOTE_LIMIT_BYTES) return undefined;
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** The Neovims whose workspace holds the place, the deepest folder first, then the newest. */
function around(place: string, known: readonly Entry[]): Entry[] {
  const depth = (entry: Entry) =>
    Math.max(
      -1,
      ...entry.workspaceFolders.filter((own) => contains(own, place)).map((own) => own.length),
    );
  return known
    .map((entry) => ({ entry, depth: depth(entry) }))
    .filter(({ depth }) => depth >= 0)
    .sort((a, b) => b.depth - a.depth || b.entry.since - a.entry.since)
    .map(({ entry }) => entry);
}

function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

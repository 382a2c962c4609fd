import { dirname } from "node:path";
import { failureCode, message } from "../lib/errors";
import type { Log } from "../lib/log";
import { isBelow, realPath } from "../lib/paths";
import type { Plugin } from "../neovim/plugin";
import type { Binding } from "./binding";
import { PROJECT_FILE, readProjectFile } from "./project-file";
import { type Entry, entries } from "./registry";
import { whyUnsafe } from "./socket";

/** Neovim answers within a few ms unless it is busy. */
const ANSWER_MS = 1_000;

/**
 * Connects to the Neovim for a CLI that works in `places`. Undefined, with the reasons in the log, if there
 * is none; rejects with Failure "busy" if it does not answer. `binding` remembers the one that was found.
 */
export async function findNeovim(
  places: readonly string[],
  log: Log,
  binding?: Binding,
): Promise<Plugin | undefined> {
  for (const { address, origin } of candidates(places, binding)) {
    const reason = whyUnsafe(address);
    if (reason) {
      log.warn(`Not used: ${address} (by ${origin}): ${reason}`);
      continue;
    }
    let plugin: Plugin | undefined;
    try {
      // Loaded only here: a hook without a Neovim is done in two thirds of the time.
      const connection = await import("../neovim/plugin");
      plugin = await connection.Plugin.connect(address);
      await plugin.call("ping", {}, ANSWER_MS);
      binding?.set(address);
      return plugin;
    } catch (error) {
      plugin?.close();
      if (failureCode(error) === "busy") throw error;
      log.warn(`Not used: ${address} (by ${origin}): ${message(error)}`);
    }
  }
  return undefined;
}

/** A Neovim that may be the one a CLI works with, and how it was found, for the log. */
interface Candidate {
  address: string;
  origin: string;
}

/**
 * The Neovims to try for a CLI that works in `places` (its project, its working folder), best
 * first: the one it runs in, the one it is connected to, the one that `binding` keeps it to, the one
 * that the project names, the one with the deepest workspace around it. Each address comes once.
 */
export function* candidates(
  places: readonly string[],
  binding?: Binding,
  env: Record<string, string | undefined> = process.env,
): Generator<Candidate> {
  const seen = new Set<string>();
  for (const candidate of inOrder(places.map(realPath), binding, env)) {
    if (seen.has(candidate.address)) continue;
    seen.add(candidate.address);
    yield candidate;
  }
}

function* inOrder(
  places: readonly string[],
  binding: Binding | undefined,
  env: Record<string, string | undefined>,
): Generator<Candidate> {
  const nvim = env.NVIM;
  if (nvim) yield { address: nvim, origin: "$NVIM" };
  const known = entries();
  const port = Number(env.CLAUDE_CODE_SSE_PORT);
  for (const { address } of known.filter((entry) => entry.port === port)) {
    yield { address, origin: "$CLAUDE_CODE_SSE_PORT" };
  }
  const bound = binding?.address(known);
  if (bound) yield { address: bound, origin: "the binding" };
  for (const place of places) {
    const named = namedByProject(place, known);
    if (named) yield { address: named.address, origin: PROJECT_FILE };
    for (const { address } of around(place, known)) {
      yield { address, origin: `the workspace around ${place}` };
    }
  }
}

/**
 * The running Neovim that the nearest project file upwards names. The project may be hostile: its
 * file only ever chooses among the Neovims that we know to have a workspace there.
 */
function namedByProject(place: string, known: readonly Entry[]): Entry | undefined {
  for (let folder = place; ; folder = dirname(folder)) {
    const address = readProjectFile(folder);
    if (address !== undefined) {
      return known.find(
        (entry) =>
          entry.address === address &&
          entry.workspaceFolders.some((own) => isBelow(folder, own) || isBelow(own, folder)),
      );
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** The Neovims whose workspace holds the place, the deepest folder first, then as they come: the newest. */
function around(place: string, known: readonly Entry[]): Entry[] {
  const depth = ({ workspaceFolders }: Entry) =>
    Math.max(0, ...workspaceFolders.filter((own) => isBelow(place, own)).map((own) => own.length));
  return known.filter((entry) => depth(entry) > 0).sort((a, b) => depth(b) - depth(a));
}

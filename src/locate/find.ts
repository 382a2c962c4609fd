import { writePrivateFile } from "../lib/atomic-write";
import { failureCode, message } from "../lib/errors";
import type { Log } from "../lib/log";
import { isBelow, namesIn, realPath, removeFile, stateFolder, statOf } from "../lib/paths";
import { dirname, IS_WINDOWS, join } from "../lib/platform";
import { readPrivateFile } from "../lib/private-folder";
import type { Plugin } from "../neovim/plugin";
import { PROJECT_FILE, readProjectFile } from "./project-file";
import { type Entry, entries } from "./registry";

/** Neovim answers within a few ms unless it is busy. */
const ANSWER_MS = 1_000;

/**
 * Connects to the Neovim for a CLI that works in `places`. If there is no such Neovim, returns undefined and logs the
 * reasons. Rejects with Failure "busy" if Neovim does not answer. `binding` remembers the Neovim.
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
      // Imported only here: without it, a hook that finds no Neovim takes a third less time.
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

/** A Neovim that the CLI may work with. `origin` is how we found it, for the log. */
interface Candidate {
  address: string;
  origin: string;
}

/**
 * The Neovims to try for a CLI that works in `places` (its project, its working folder), best first: the one in which
 * the CLI runs, the one to which it is connected, the one in the `binding`, the one that the project names, and the one
 * with the deepest workspace around a place. Yields each address once.
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
 * The running Neovim named by the nearest project file, searching upwards. Because a project may be hostile, its file
 * can choose only among known Neovims with a workspace there.
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

/** The Neovims with a workspace around the place, the deepest folder first, and then the newest. */
function around(place: string, known: readonly Entry[]): Entry[] {
  const depth = ({ workspaceFolders }: Entry) =>
    Math.max(0, ...workspaceFolders.filter((own) => isBelow(place, own)).map((own) => own.length));
  return known.filter((entry) => depth(entry) > 0).sort((a, b) => depth(b) - depth(a));
}

/**
 * Why we may not connect to an address; undefined if it is safe. A safe address is a socket of this user, or a named
 * pipe on Windows, and never TCP, on which any user of the machine may listen.
 */
export function whyUnsafe(address: string): string | undefined {
  if (IS_WINDOWS) {
    return address.startsWith("\\\\.\\pipe\\") ? undefined : "it is not a named pipe";
  }
  if (!address.startsWith("/")) return "it is not an absolute path of a socket";
  const stats = statOf(address);
  if (!stats) return "there is no such socket";
  if (!stats.isSocket()) return "it is not a socket";
  if (stats.uid !== process.getuid?.()) return "the socket belongs to another user";
  return undefined;
}

const bindingsFolder = () => join(stateFolder(), "clis");

/**
 * Remembers the Neovim of a CLI, so that a Neovim that is opened later for the same folder does not receive half of the
 * hooks. Never throws: without a binding, each search takes the best candidate.
 */
export class Binding {
  readonly #path: string;

  /** `pid` is the CLI's process, which its hooks and stdio servers share. */
  constructor(pid: number) {
    this.#path = join(bindingsFolder(), String(pid));
  }

  /** Undefined without a binding, or if that Neovim is not `known` to run. */
  address(known: readonly Entry[] = entries()): string | undefined {
    const address = readPrivateFile(this.#path);
    return known.some((entry) => entry.address === address) ? address : undefined;
  }

  set(address: string): void {
    if (readPrivateFile(this.#path) === address) return;
    const known = new Set(entries().map((entry) => entry.address));
    // `address` accepts only addresses in the registry.
    if (!known.has(address)) return;
    try {
      writePrivateFile(this.#path, address);
    } catch {
      return;
    }
    const folder = bindingsFolder();
    for (const path of namesIn(folder).map((name) => join(folder, name))) {
      if (!known.has(readPrivateFile(path) ?? "")) removeFile(path);
    }
  }

  /** Another CLI may get the same process id. */
  forget(): void {
    removeFile(this.#path);
  }
}

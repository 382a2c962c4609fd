import { dirname, join } from "node:path";
import { writePrivateFile } from "../lib/atomic-write";
import { failureCode, message } from "../lib/errors";
import type { Log } from "../lib/log";
import { isBelow, namesIn, realPath, removeFile, stateFolder, statOf } from "../lib/paths";
import { readPrivateFile } from "../lib/private-folder";
import type { Plugin } from "../neovim/plugin";
import { PROJECT_FILE, readProjectFile } from "./project-file";
import { type Entry, entries } from "./registry";

/** Neovim answers within a few ms unless it is busy. */
const ANSWER_MS = 1_000;

/**
 * Connects to the Neovim for a CLI that works in `places`. If there is no such Neovim, returns undefined
 * and logs the reasons; rejects with Failure "busy" if it does not answer. `binding` remembers the one found.
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

/**
 * Why no connection may be made to this address, or undefined if it is safe: it must be a socket of this user
 * (a named pipe on Windows). Never TCP, where anyone of this machine may listen.
 */
export function whyUnsafe(address: string): string | undefined {
  if (process.platform === "win32") {
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
 * Which Neovim a CLI works with, once one was found: one that is opened later for the same folder
 * does not get half of its hooks. Nothing here throws: without it the best candidate is taken again
 * each time.
 */
export class Binding {
  readonly #path: string;

  /** `pid`: the CLI's process, which its hooks and its stdio servers have in common. */
  constructor(pid: number) {
    this.#path = join(bindingsFolder(), String(pid));
  }

  /** Undefined if there is none, or that Neovim is not among those `known` to run. */
  address(known: readonly Entry[] = entries()): string | undefined {
    const address = readPrivateFile(this.#path);
    return known.some((entry) => entry.address === address) ? address : undefined;
  }

  set(address: string): void {
    if (readPrivateFile(this.#path) === address) return;
    const known = new Set(entries().map((entry) => entry.address));
    // An address that the registry lacks would never be believed.
    if (!known.has(address)) return;
    try {
      writePrivateFile(this.#path, address);
    } catch {
      return; // As before.
    }
    const folder = bindingsFolder();
    for (const path of namesIn(folder).map((name) => join(folder, name))) {
      if (!known.has(readPrivateFile(path) ?? "")) removeFile(path);
    }
  }

  /** Another CLI may have the number now. */
  forget(): void {
    removeFile(this.#path);
  }
}

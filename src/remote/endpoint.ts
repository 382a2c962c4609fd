import { mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { parse } from "jsonc-parser";
import * as v from "valibot";
import type { EditorPort } from "../editor/methods";
import type { Transport } from "../jsonrpc/message";
import { attempt, Failure, message } from "../lib/errors";
import { isObject } from "../lib/json";
import type { Log } from "../lib/log";
import { isThere } from "../lib/paths";
import { basename, dirname, isAbsolute, join, resolve } from "../lib/platform";
import { readText } from "../lib/read-regular";
import { takes } from "../lib/requests";
import type { ModEndpoint } from "../mod/endpoint";
import type { Channel } from "./channels";
import { copyConversation } from "./conversation";
import { runHelper } from "./helpers";
import { border } from "./ide";
import { Link } from "./link";
import { type Mapping, PathMap } from "./path-map";
import { Remote } from "./remote";

/** A project may describe its container in one of these files. */
const FILES = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/** Larger than any real file. Parsing 64 MB would take seconds. */
const MAX_BYTES = 1024 * 1024;

/** We copy a followed conversation at this interval while Claude writes an answer, and again after it. In ms. */
const [WRITING_MS, WRITTEN_MS] = [300, 1_000];

const text = v.pipe(v.string(), v.nonEmpty());
const Start = v.object({
  name: text,
  relay: v.pipe(v.array(v.string()), v.nonEmpty()),
  /** The project's folder on this machine. */
  folder: text,
  mappings: v.optional(v.record(text, text)),
  token: v.pipe(v.string(), v.uuid()),
  nextToken: v.pipe(v.string(), v.uuid()),
  port: v.optional(v.number()),
});
const Named = v.object({ name: text });

/** Answers Neovim's requests about remotes, and reports their states. */
export class RemoteEndpoint {
  readonly #links = new Map<string, { link: Link; map: PathMap }>();
  /** A temporary folder for copies of conversations. */
  #folder: string | undefined;
  /** The last copy of each session's conversation, and the next ones. */
  readonly #copies = new Map<string, Promise<unknown>>();
  readonly #timers = new Map<string, Timer>();

  /** `connect` makes a client in a remote a client of the IDE server. */
  constructor(
    private readonly editor: Pick<EditorPort, "state" | "call">,
    private readonly connect: (transport: Transport, remote: Remote) => void,
    private readonly mods: ModEndpoint,
    private readonly log: Log,
  ) {
    mods.onWritten.on(({ remote, session }) => {
      if (!remote) return;
      this.#copyIn(WRITING_MS, remote, session);
      this.#copyIn(WRITTEN_MS, remote, session);
    });
  }

  readonly requests = {
    /** Throws Failure if the options cannot be used. */
    start: takes(Start, (options) => this.#start(options)),
    stop: takes(Named, ({ name }) => this.#stop(name)),
  };

  #start(options: v.InferOutput<typeof Start>): void {
    const { name, folder } = options;
    this.#links.get(name)?.link.end();
    const mappings = mappingsOf(folder, options.mappings);
    const remote = new Remote(name, mapOf(name, mappings), this.editor);
    const link = new Link(
      { ...options, mappings },
      {
        onState: (state) => {
          if (this.#links.get(name)?.link !== link) return;
          this.editor
            .call("remote_state", { name, ...state })
            .catch((error) =>
              this.log.warn(`Reporting the state of a remote failed: ${message(error)}`),
            );
        },
        onChannel: (channel, d) => this.#join(channel, d, remote),
      },
      this.log,
    );
    this.#links.set(name, { link, map: remote.map });
    void link.start();
  }

  #join(channel: Channel, d: string, remote: Remote): void {
    if (channel.kind === "ide") return this.connect(border(channel, remote), remote);
    // Only we may copy conversations from the remote, and not vice versa.
    if (channel.kind === "conversation") return channel.close();
    if (channel.kind === "mod") return this.#joinMod(channel, d, remote);
    void runHelper(channel, d, remote);
  }

  /** The channel of one request. */
  #joinMod(channel: Channel, path: string, remote: Remote): void {
    const closed = new AbortController();
    channel.onClose = () => closed.abort();
    channel.onMessage = async (body) => {
      channel.onMessage = () => {};
      const mods = this.mods.place(remote.name);
      channel.send(JSON.stringify(await mods.receive(path, body, closed.signal)));
    };
  }

  #stop(name: string): void {
    this.#links.get(name)?.link.end();
    this.#links.delete(name);
  }

  /** Copies a conversation in a remote to a file on this machine. */
  async conversation(name: string, session: string) {
    const path = await this.#copy(name, session, false);
    const map = this.#links.get(name)?.map;
    /** This machine's path for a path in the remote. A relative path starts at `folder`, which is on this machine. */
    const toHost = (given: string, folder = "/") => {
      const there = isAbsolute(given) ? given : map?.toRemote(resolve(folder, given));
      return there === undefined ? undefined : map?.toHost(there);
    };
    return { path, toHost };
  }

  /** Copies one at a time. */
  #copy(name: string, session: string, more: boolean): Promise<string> {
    this.#folder ??= mkdtempSync(join(tmpdir(), "claude-code-remote-"));
    const folder = this.#folder;
    const open = (id: string) => this.#links.get(name)?.link.open("conversation", id);
    const before = this.#copies.get(session) ?? Promise.resolve();
    const copied = before.then(() => copyConversation(open, session, folder, more));
    this.#copies.set(
      session,
      copied.catch(() => {}),
    );
    return copied;
  }

  #copyIn(ms: number, name: string, session: string): void {
    const key = `${ms} ${session}`;
    const known = this.#timers.get(key);
    if (known && ms === WRITING_MS) return;
    clearTimeout(known);
    const copy = () => {
      this.#timers.delete(key);
      // It may have no copy: Neovim then shows none.
      if (this.#copies.has(session)) this.#copy(name, session, true).catch(() => {});
    };
    this.#timers.set(key, setTimeout(copy, ms));
  }

  end(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const name of [...this.#links.keys()]) this.#stop(name);
    if (this.#folder) rmSync(this.#folder, { recursive: true, force: true });
  }
}

function mapOf(name: string, mappings: readonly Mapping[]): PathMap {
  const isWindows = mappings.some(({ remote }) => /^[A-Za-z]:/.test(remote));
  try {
    return new PathMap(mappings, isWindows ? "win32" : "posix");
  } catch (error) {
    throw new Failure(`path_mappings of ${name}: ${message(error)}`);
  }
}

/**
 * The shared folders: those that the user has mapped, or else the one that a devcontainer.json in or above `folder`
 * names, up to the top of its repository, or else `folder` itself, with the same path on both sides.
 */
export function mappingsOf(folder: string, given: Record<string, string> = {}): Mapping[] {
  const mapped = Object.entries(given);
  const withHome = (path: string) => path.replace(/^~(?=\/|$)/, homedir());
  if (mapped.length > 0) return mapped.map(([remote, host]) => ({ remote, host: withHome(host) }));
  for (let root = folder; dirname(root) !== root; root = dirname(root)) {
    const path = FILES.map((name) => join(root, name)).find(isThere);
    if (path !== undefined) return [{ remote: workspaceFolder(root, path), host: root }];
    if (isThere(join(root, ".git"))) break;
  }
  return [{ remote: folder, host: folder }];
}

/** The default is that of the devcontainer CLI. */
function workspaceFolder(root: string, path: string): string {
  // The file may be nested too deeply, or be too long.
  const content: unknown = attempt(() => parse(readText(path, MAX_BYTES) ?? ""));
  const named = isObject(content) ? content.workspaceFolder : undefined;
  const folder = typeof named === "string" ? named : `/workspaces/${basename(root)}`;
  return folder.replaceAll(/\$\{localWorkspaceFolder(Basename)?\}/g, (_, isName) =>
    isName ? basename(root) : root,
  );
}

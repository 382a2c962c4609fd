import * as v from "valibot";
import { catchingProxy } from "../claude/proxy";
import { readGitFile } from "../lib/git-folder";
import { parseJson } from "../lib/json";
import { type Environment, namesIn, statOf } from "../lib/paths";
import { join } from "../lib/platform";
import { CONTRACT, VERSION } from "../lib/version";
import { writePlugins } from "../mod/plugin";

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));
const Contract = v.object({
  contract: v.number(),
  version: v.pipe(v.string(), v.regex(/^[\w.+-]{1,64}$/)),
});

/** Shown to the user, and passed in an environment. */
const text = v.pipe(v.string(), v.maxLength(4_096), v.regex(/^[^\p{Cc}\p{Cf}]*$/u));
const MAX_ROOTS = 64;

const HostHello = v.object({
  ...Contract.entries,
  /** The port of the previous relay, to which the CLI tries to reconnect. */
  port: v.optional(port),
  /** Clients in the remote must send this token. It is valid only for this remote. */
  token: v.pipe(v.string(), v.uuid()),
  /** Replaces `token` if another program has taken `port`. */
  nextToken: v.pipe(v.string(), v.uuid()),
  /** The mapped folders, as the remote names them. */
  roots: v.pipe(v.array(text), v.maxLength(MAX_ROOTS)),
});
/** The first line that the link sends. */
export type HostHello = v.InferOutput<typeof HostHello>;

const RelayHello = v.object({
  ...Contract.entries,
  port,
  /** The folder of our plugin for the CLI in the remote, if it could be written. */
  plugin: v.optional(text),
  /** Another one, for the option `terminal.mod`. */
  plugin_without_mod: v.optional(text),
  /** A probe for each of the host's `roots`, in their order; null if there is no such folder. */
  probes: v.pipe(v.array(v.nullable(text)), v.maxLength(MAX_ROOTS)),
  /** A value for `no_proxy` that exempts loopback, if a proxy is set. */
  noProxy: v.optional(text),
  /** The reason why there is no lock file. */
  problem: v.optional(text),
});
/** The first line that the relay sends. */
export type RelayHello = v.InferOutput<typeof RelayHello>;

/** Parses the first line of the other end, or returns a problem. That quotes nothing: the line may have a token. */
function read<T extends v.GenericSchema>(schema: T, line: string): v.InferOutput<T> | string {
  const value = parseJson(line);
  const other = v.safeParse(Contract, value);
  if (!other.success) return "its first line is not in the expected format";
  const { contract, version } = other.output;
  if (contract !== CONTRACT)
    return `it is version ${version} with contract ${contract}, and this one is ${VERSION} with contract ${CONTRACT}: install the same version on both sides`;
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  return `its first line is wrong in: ${result.issues.map((issue) => v.getDotPath(issue)).join(", ")}`;
}

export const readHostHello = (line: string) => read(HostHello, line);
export const readRelayHello = (line: string) => read(RelayHello, line);

export function hostHello(fields: Omit<HostHello, "contract" | "version">): HostHello {
  return { contract: CONTRACT, version: VERSION, ...fields };
}

export function relayHello(roots: readonly string[], port: number, problem?: string): RelayHello {
  const { plugin_problem, ...plugins } = writePlugins(process.execPath);
  return {
    contract: CONTRACT,
    version: VERSION,
    port,
    ...plugins,
    probes: roots.map((root) => probe(root) ?? null),
    ...noProxy(process.env),
    ...((problem ?? plugin_problem) !== undefined && { problem: problem ?? plugin_problem }),
  };
}

/**
 * A hash that is equal on both sides if they share the folder: of HEAD, or else of the names in it. Paths, owners and
 * devices differ in a container. Undefined if there is no such folder.
 */
export function probe(folder: string): string | undefined {
  if (!statOf(folder)?.isDirectory()) return undefined;
  const git = readGitFile(join(folder, ".git", "HEAD"));
  const shown = git === undefined ? namesIn(folder).sort().join("\0") : `git ${git}`;
  return new Bun.CryptoHasher("sha256").update(shown).digest("hex");
}

/** Without this, a CLI in the remote might connect to a proxy instead of 127.0.0.1. */
function noProxy(env: Environment): { noProxy?: string } {
  if (!catchingProxy(env)) return {};
  return {
    noProxy: [env.no_proxy || env.NO_PROXY || [], "127.0.0.1", "localhost"].flat().join(","),
  };
}

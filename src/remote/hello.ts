import { join } from "node:path";
import * as v from "valibot";
import { catchingProxy } from "../claude/proxy";
import { readGitFile } from "../lib/git-folder";
import { parseJson } from "../lib/json";
import { type Environment, namesIn, statOf } from "../lib/paths";
import { CONTRACT, VERSION } from "../lib/version";

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));
const Contract = v.object({
  contract: v.number(),
  version: v.pipe(v.string(), v.regex(/^[\w.+-]{1,64}$/)),
});

/** It is shown to the user, and passed in an environment. */
const text = v.pipe(v.string(), v.maxLength(4_096), v.regex(/^[^\p{Cc}\p{Cf}]*$/u));
const MAX_ROOTS = 64;

const HostHello = v.object({
  ...Contract.entries,
  /** The port of the relay before, if any: the CLI tries it again. */
  port: v.optional(port),
  /** The token that clients in the remote must show, drawn only for this remote. */
  token: v.pipe(v.string(), v.uuid()),
  /** Takes its place where another program has `port`. */
  nextToken: v.pipe(v.string(), v.uuid()),
  /** The remote's paths of the mapped folders. */
  roots: v.pipe(v.array(text), v.maxLength(MAX_ROOTS)),
});
/** The first line from the link. */
export type HostHello = v.InferOutput<typeof HostHello>;

const RelayHello = v.object({
  ...Contract.entries,
  port,
  /** The path of the executable there. */
  executable: text,
  /** The host's `roots`, in its order: a probe of each, or null where there is no such folder. */
  probes: v.pipe(v.array(v.nullable(text)), v.maxLength(MAX_ROOTS)),
  /** Exempts loopback, where a proxy is set. */
  noProxy: v.optional(text),
  /** Why there is no lock file. */
  problem: v.optional(text),
});
/** The first line from the relay. */
export type RelayHello = v.InferOutput<typeof RelayHello>;

/** The hello of the other end, or why it cannot be used. The cause quotes nothing: the host's line holds a token. */
function read<T extends v.GenericSchema>(schema: T, line: string): v.InferOutput<T> | string {
  const value = parseJson(line);
  const other = v.safeParse(Contract, value);
  if (!other.success) return "its first line is not the one that is expected";
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

/** The relay's description of its machine. */
export function relayHello(roots: readonly string[], port: number, problem?: string): RelayHello {
  return {
    contract: CONTRACT,
    version: VERSION,
    port,
    executable: process.execPath,
    probes: roots.map((root) => probe(root) ?? null),
    ...noProxy(process.env),
    ...(problem !== undefined && { problem }),
  };
}

/**
 * Identifies a folder, equally on both sides if it is the same one: by its repository, or else by its content, since
 * paths, owners and devices differ in a container. Undefined if there is no such folder.
 */
export function probe(folder: string): string | undefined {
  if (!statOf(folder)?.isDirectory()) return undefined;
  const git = readGitFile(join(folder, ".git", "HEAD"));
  const shown = git === undefined ? namesIn(folder).sort().join("\0") : `git ${git}`;
  return new Bun.CryptoHasher("sha256").update(shown).digest("hex");
}

/** A CLI there would send ws://127.0.0.1 to a proxy. */
function noProxy(env: Environment): { noProxy?: string } {
  if (!catchingProxy(env)) return {};
  return {
    noProxy: [env.no_proxy || env.NO_PROXY || [], "127.0.0.1", "localhost"].flat().join(","),
  };
}

import { homedir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { claudeFolder } from "../claude/config-dir";
import { catchingProxy } from "../claude/proxy";
import { readGitFile } from "../lib/git-folder";
import { parseJson } from "../lib/json";
import { type Environment, namesIn, realPath, statOf } from "../lib/paths";
import { CONTRACT, VERSION } from "../lib/version";

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));
const Contract = v.object({
  contract: v.number(),
  version: v.pipe(v.string(), v.regex(/^[\w.+-]{1,64}$/)),
});

/** It is shown to the user, and passed in an environment. */
const text = v.pipe(v.string(), v.maxLength(4_096), v.regex(/^[^\p{Cc}\p{Cf}]*$/u));
const MOST_ROOTS = 64;

const HostHello = v.object({
  ...Contract.entries,
  /** The port of before, if there was one: the CLI tries it again. */
  port: v.optional(port),
  /** What clients in the remote must show, drawn for this remote alone. */
  token: v.pipe(v.string(), v.uuid()),
  /** Takes its place where another program has `port`. */
  nextToken: v.pipe(v.string(), v.uuid()),
  /** The remote's paths of the mapped folders. */
  roots: v.pipe(v.array(text), v.maxLength(MOST_ROOTS)),
});
/** The first line from the link. */
export type HostHello = v.InferOutput<typeof HostHello>;

const Root = v.object({
  path: text,
  real: v.optional(text),
  exists: v.boolean(),
  /** What the folder is; equal on both sides where it is the same one. */
  probe: v.optional(text),
});
export type Root = v.InferOutput<typeof Root>;

const RelayHello = v.object({
  ...Contract.entries,
  port,
  pid: v.optional(v.number()),
  uid: v.optional(v.number()),
  home: text,
  configDir: text,
  platform: text,
  /** Of the executable there. */
  executable: text,
  roots: v.pipe(v.array(Root), v.maxLength(MOST_ROOTS)),
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

/** What the relay says of where it runs. */
export function relayHello(roots: readonly Root[], port: number, problem?: string): RelayHello {
  return {
    contract: CONTRACT,
    version: VERSION,
    port,
    pid: process.pid,
    ...(process.getuid && { uid: process.getuid() }),
    home: homedir(),
    configDir: claudeFolder(),
    platform: process.platform,
    executable: process.execPath,
    roots: [...roots],
    ...noProxy(process.env),
    ...(problem !== undefined && { problem }),
  };
}

/** A folder as it is on this side. */
export function lookAt(path: string): Root {
  if (!statOf(path)?.isDirectory()) return { path, exists: false };
  return { path, exists: true, probe: probe(path), real: realPath(path) };
}

/** Of the repository, or else of what is in the folder: paths, owners and devices differ in a container. */
function probe(folder: string): string {
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

import * as v from "valibot";
import { Failure } from "../lib/errors";
import { parseJson } from "../lib/json";
import { LOG_LEVELS } from "../lib/log";

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

const PortRange = v.object({ first: port, last: port });

const Launch = v.object({
  /** Must equal our CONTRACT. `serve` checks it. */
  contract: v.number(),
  version: v.string(),
  /** Our own path as the plugin found it. An update may remove the target of a symlink, but not the symlink. */
  executable: v.optional(v.string(), process.execPath),
  /** UUID v4. It comes through stdin because every user of the machine can read our arguments. */
  token: v.pipe(v.string(), v.uuid()),
  /** Replaces `token` if another program has taken `port`: the CLI sends the old token there. */
  nextToken: v.optional(v.pipe(v.string(), v.uuid())),
  /** Neovim's process id, for the lock file. */
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The port of an executable that died. The CLI reconnects only to its old port. */
  port: v.nullish(port),
  portRange: v.optional(PortRange),
  workspaceFolders: v.array(v.string()),
  logFile: v.nullish(v.string()),
  logLevel: v.optional(v.picklist(LOG_LEVELS), "info"),
});

/** The line of JSON that the plugin writes to the stdin of the executable. */
export type Launch = v.InferOutput<typeof Launch>;

/** Throws Failure. The message names wrong fields without quoting them, since the line contains a token. */
export function readLaunch(line: string): Launch {
  const value = parseJson(line);
  if (value === undefined) throw new Failure("the launch line on stdin is not JSON", "usage");
  const result = v.safeParse(Launch, value);
  if (result.success) return result.output;
  const fields = result.issues.map((issue) => v.getDotPath(issue) ?? "the whole line");
  const text = `the launch line on stdin is wrong in: ${[...new Set(fields)].join(", ")}`;
  throw new Failure(text, "usage");
}

/** Spec 01 wants a random port in this range. Both ends are included. */
const PORT_RANGE = { first: 10_000, last: 65_535 } as const;

const ATTEMPTS = 50;

/** In ms. An executable that was just stopped may hold the port that we take over for a moment longer. */
const HANDOVER_MS = 1_000;
const HANDOVER_STEP_MS = 20;

type Wanted = Partial<Launch> & Pick<Launch, "token">;

/**
 * Opens a port for the server with `listen`, and chooses the token that clients must send. First tries the port that
 * the launch line asks for, for a while, then random ports until one is free: a probe before `listen` would be a race.
 * Rejects with the last error if every attempt fails, or at once with any error other than a port in use.
 */
export async function openServerPort<L extends { readonly port: number }>(
  wanted: Wanted,
  listen: (port: number) => L,
): Promise<{ listener: L; token: string }> {
  let taken: unknown;
  for (const port of portsToTry(wanted)) {
    try {
      return { listener: listen(port), token: tokenFor(wanted, port) };
    } catch (error) {
      const code = (error as { code?: unknown } | undefined)?.code;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      taken = error;
    }
    if (port === wanted.port) await Bun.sleep(HANDOVER_STEP_MS);
  }
  throw taken;
}

/** If another program has the old port by now, clients send it the old token. */
function tokenFor({ port: wanted, token, nextToken }: Wanted, port: number): string {
  return wanted && port !== wanted ? (nextToken ?? crypto.randomUUID()) : token;
}

function* portsToTry({ port, portRange = PORT_RANGE }: Wanted): Generator<number> {
  const handedOver = performance.now() + HANDOVER_MS;
  while (port != null && performance.now() < handedOver) yield port;
  const { first, last } = portRange;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    yield first + Math.floor(Math.random() * (last - first + 1));
}

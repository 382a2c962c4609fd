import { UserError } from "../lib/errors";
import { isBelow, realPath } from "../lib/paths";
import { UnixSocket } from "../lib/unix-socket";
import { entries } from "../locate/registry";
import { whyUnsafe } from "../locate/socket";
import { Plugin } from "../neovim/plugin";
import { LIMITS, StdioWire, socketWire, type Wire } from "../remote/wire";
import { usageError } from "./arguments";
import { signalled } from "./signals";

/** Neovim may be busy, and its executable has to listen. */
const TIMES = { limitMs: 10_000, answerMs: 5_000 };
const CONNECT_MS = 5_000;

/**
 * `claude-code-nvim link NAME`, which `relay -- COMMAND` of another machine starts here, beside Neovim: connects
 * its stdin and stdout with the remote NAME of that Neovim, until one of both ends.
 */
export async function link(args: string[]): Promise<number> {
  const [name, ...further] = args;
  if (!name || name.startsWith("-") || further.length > 0)
    throw usageError("link needs the name of one remote", "link NAME");
  const plugin = await Plugin.connect(addressOfNeovim());
  const path = String(await plugin.callLate("remote_listen", { name }, TIMES));
  plugin.close();
  const neovim = socketWire(await UnixSocket.connect(path, CONNECT_MS, "Neovim's executable"));
  const relay = new StdioWire(Bun.stdin.stream(), Bun.stdout.writer());
  const ended = pass(neovim, relay).then(() => "Neovim has ended the connection");
  const cause = await Promise.race([ended, pass(relay, neovim), signalled().then(() => {})]);
  if (cause !== undefined) throw new UserError(cause);
  return 0;
}

/** That of the one Neovim around the working folder, or else of the only one. */
function addressOfNeovim(): string {
  const all = entries().filter(({ address }) => !whyUnsafe(address));
  const place = realPath(process.cwd());
  const around = all.filter((one) => one.workspaceFolders.some((own) => isBelow(place, own)));
  const [found, other] = around.length > 0 ? around : all;
  if (!found) throw new UserError("no Neovim with claude-code.nvim runs here: start it first");
  if (!other) return found.address;
  const folders = [found, other].map((one) => one.workspaceFolders[0]).join(" and ");
  throw new UserError(
    `more than one Neovim runs here, as in ${folders}: start this in the folder of one`,
  );
}

async function pass(from: Wire, to: Wire): Promise<void> {
  for await (const bytes of from.input) {
    to.write(bytes);
    if (to.unsentBytes > LIMITS.backlogBytes) return;
  }
}

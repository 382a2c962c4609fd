import { catchingProxy } from "../claude/proxy";
import type { Facts } from "./facts";
import { error, type Finding } from "./finding";

/** Would the CLI send ws://127.0.0.1 through a proxy? The plugin sets no_proxy in its terminals. */
export function checkProxy({ env, running, cwd }: Facts): Finding | undefined {
  const here = catchingProxy(env);
  const cli = here ? undefined : running.find((one) => one.cwd === cwd && catchingProxy(one.env));
  const name = here ?? (cli && catchingProxy(cli.env));
  if (!name) return undefined;
  const who = cli ? `the CLI ${cli.pid} has ${name}` : `${name} is set`;
  return error(
    "proxy-catches-loopback",
    `${who}, and no_proxy does not exempt 127.0.0.1: the CLI connects to the proxy instead of the editor`,
    'run `export no_proxy="127.0.0.1,localhost,$no_proxy"` before `claude`',
  );
}

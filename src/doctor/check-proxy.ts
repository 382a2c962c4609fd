import type { Environment } from "../lib/paths";
import type { Facts } from "./facts";
import { error, type Finding } from "./finding";

const PROXIES = [
  "http_proxy",
  "HTTP_PROXY",
  "all_proxy",
  "ALL_PROXY",
  "https_proxy",
  "HTTPS_PROXY",
];

/** Would the CLI send ws://127.0.0.1 through a proxy? The plugin sets no_proxy in its terminals. */
export function checkProxy({ env, running, cwd }: Facts): Finding | undefined {
  const here = catching(env);
  const cli = here ? undefined : running.find((one) => one.cwd === cwd && catching(one.env));
  const name = here ?? (cli && catching(cli.env));
  if (!name) return undefined;
  const who = cli ? `the CLI ${cli.pid} has ${name}` : `${name} is set`;
  return error(
    "proxy-catches-loopback",
    `${who}, and no_proxy does not exempt 127.0.0.1: the CLI connects to the proxy instead of the editor`,
    'run `export no_proxy="127.0.0.1,localhost,$no_proxy"` before `claude`',
  );
}

/** The proxy variable that catches loopback connections. */
function catching(env: Environment): string | undefined {
  const name = PROXIES.find((proxy) => env[proxy]);
  if (!name) return undefined;
  const exempt = `${env.no_proxy || env.NO_PROXY || ""}`.split(/[,\s]+/);
  return exempt.some((host) => host === "*" || host.startsWith("127.")) ? undefined : name;
}

import type { Environment } from "../lib/paths";

const PROXIES = [
  "http_proxy",
  "HTTP_PROXY",
  "all_proxy",
  "ALL_PROXY",
  "https_proxy",
  "HTTPS_PROXY",
];

/** The name of the variable whose proxy would receive connections to 127.0.0.1. */
export function catchingProxy(env: Environment): string | undefined {
  const name = PROXIES.find((proxy) => env[proxy]);
  if (!name) return undefined;
  const exempt = `${env.no_proxy || env.NO_PROXY || ""}`.split(/[,\s]+/);
  return exempt.some((host) => host === "*" || host.startsWith("127.")) ? undefined : name;
}

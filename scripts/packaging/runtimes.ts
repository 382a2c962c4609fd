import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The SHA-256 of Bun's runtime for each target, in the version of package.json. Bun fetches them from the package
 * registry, and a release contains them, so they are pinned. `scripts/release --runtimes` prints the table after an
 * update of Bun.
 */
export const RUNTIMES: Readonly<Record<string, string>> = {
  "bun-linux-x64-baseline": "f05d28a3862f4b84395c7fa32480b835dd47482e80b7e7a49a115227f0c06083",
  "bun-linux-arm64": "04778f1f42399a69d086853e9c7af4acf574b2f21a43d0dc673853d8b84a2923",
  "bun-linux-x64-baseline-musl": "cf5d285ddbe256785a5121a3c113191a6b577504976374c7cfd5aedca609b720",
  "bun-linux-arm64-musl": "9c48986093073afec8b76a3e285303598dd2462f52748aecb65e4d94866e1ea3",
  "bun-darwin-arm64": "e2984124f1514e1e6bbda20adedbf07a02c443c6a5828853a15c7c7abf78e19f",
  "bun-darwin-x64": "88f97645b270aef20f9f9442f1658461cab3e7128e658af4615144e3396f084a",
  "bun-windows-x64-baseline": "e06ad0864463c68892ae71a2a64af7eae1585cac5dd9b80bc042f45605587cb1",
  "bun-windows-arm64": "8bd7f9210f9d58cc21f398d1478e53b2ff919a0c8fc935b5086f3f64667cec6d",
};

/** Throws unless a build has used the pinned runtime. */
export async function checkRuntime(target: string, bun: string): Promise<void> {
  const found = await runtimeSum(target, bun);
  if (found === RUNTIMES[target]) return;
  throw new Error(
    `the runtime of ${target} has the SHA-256 ${found}, and scripts/packaging/runtimes.ts pins ` +
      `${RUNTIMES[target] ?? "none"}: if Bun was updated, run scripts/release --runtimes`,
  );
}

/** The sum of the runtime that a build has left in Bun's cache. */
export async function runtimeSum(target: string, bun: string): Promise<string> {
  const { BUN_INSTALL_CACHE_DIR, BUN_INSTALL = join(homedir(), ".bun") } = process.env;
  const cache = BUN_INSTALL_CACHE_DIR ?? join(BUN_INSTALL, "install/cache");
  const wanted = words(`${target}-v${bun}`);
  const name = readdirSync(cache).find((file) => words(file) === wanted);
  // For its own kind of machine Bun may use its own file.
  const isOwn = target.startsWith(`bun-${process.platform}-${process.arch}`);
  const file = name ? join(cache, name) : isOwn ? process.execPath : undefined;
  if (!file) throw new Error(`Bun's cache ${cache} has no runtime for ${target}`);
  const bytes = await Bun.file(file).bytes();
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** The cache has the same words in another order, and another word for arm64. */
function words(name: string): string {
  return name.replace("aarch64", "arm64").split("-").sort().join("-");
}

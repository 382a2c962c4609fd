/**
 * Builds the executable: `bun run build [TARGET…]` writes dist/claude-code-nvim for this
 * machine, or dist/TARGET/claude-code-nvim for each of Bun's compile targets named.
 */
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { writeClaudePlugin } from "./claude-plugin";
import { signedAdHoc } from "./packaging/mach-o";

const root = dirname(import.meta.dir);
const name = "claude-code-nvim";

/**
 * The `neovim` client brings winston, which it needs only for a logger of its own. We
 * always pass ours, so winston would cost memory and start-up time for nothing.
 */
const withoutWinston: BunPlugin = {
  name: "without-winston",
  setup(build) {
    build.onResolve({ filter: /^winston$/ }, () => ({ path: "winston", namespace: "absent" }));
    build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({
      contents: `exports.createLogger = exports.format = () => {
        throw new Error("pass your own logger to the neovim client: winston is not built in");
      };`,
      loader: "js",
    }));
  },
};

/**
 * Bundles the sources below `source`, as the executable has them. The working folder is `source` in the
 * meantime: the names of the chunks depend on the path of the entry point.
 */
export async function bundle(
  source: string,
  more: Partial<Bun.BuildConfig>,
): Promise<Bun.BuildOutput> {
  const before = process.cwd();
  process.chdir(source);
  try {
    return await Bun.build({
      entrypoints: ["src/main.ts"],
      target: "bun",
      // A chunk for each command: a hook must not load the server, not even as bytecode.
      format: "esm",
      splitting: true,
      plugins: [withoutWinston],
      ...more,
    } as Bun.BuildConfig);
  } finally {
    process.chdir(before);
  }
}

/**
 * Writes the executable for `target` (Bun's name for a platform; none: this machine), made of the
 * sources below `source` (none: this checkout). The same sources give the same bytes, as long as
 * the outfile has the same name.
 */
export async function build(
  outfile: string,
  target?: Bun.Build.CompileTarget,
  source: string = root,
): Promise<void> {
  await mkdir(dirname(outfile), { recursive: true });
  // Built aside and renamed, so that a running executable is never written to. In a folder
  // of its own, since the file's name is part of the result and has to stay the same.
  const work = await mkdtemp(join(dirname(outfile), ".build-"));
  try {
    const made = join(work, basename(outfile));
    await bundle(source, {
      minify: true,
      bytecode: true,
      compile: {
        outfile: made,
        ...(target && { target }),
        // A project folder's .env and bunfig.toml must not reach us.
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    });
    if (target?.includes("darwin") ?? process.platform === "darwin") await sign(made);
    await rename(made, outfile);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function sign(file: string): Promise<void> {
  const unsigned = await readFile(file);
  const signed = signedAdHoc(unsigned, name);
  if (signed !== unsigned) await writeFile(file, signed);
}

if (import.meta.main) {
  const targets = process.argv.slice(2) as Bun.Build.CompileTarget[];
  if (targets.length === 0) await build(join(root, "dist", name));
  await writeClaudePlugin(join(root, "dist/claude-plugin"));
  for (const target of targets) {
    const suffix = target.includes("windows") ? ".exe" : "";
    await build(join(root, "dist", target, name + suffix), target);
  }
}

/**
 * `bun run build [TARGET…]` writes the executable for this machine to dist/claude-code-nvim, or that for each of Bun's
 * compile targets to dist/TARGET/claude-code-nvim. For this machine it also writes doc/tags, which `:help` needs in a
 * checkout without a plugin manager.
 */
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { helpTags } from "./help-tags";
import { signedAdHoc } from "./packaging/mach-o";

const root = dirname(import.meta.dir);
const name = "claude-code-nvim";

/**
 * Replaces modules that the transport of the `neovim` client requires. It uses `inspect` only to print messages that it
 * reads, and we read them ourselves. The classes of buffers, windows and tab pages would add a logger, winston. A
 * `require` of one of Bun's own modules, unlike an import, would load everything that `require` needs.
 */
const REQUIRED_BY_TRANSPORT: Readonly<Record<string, string>> = {
  "node:events": 'export { EventEmitter } from "node:events";',
  "node:util": "export const inspect = String;",
  "../api/extTypes": "export class Buffer {} export class Window {} export class Tabpage {}",
};

const slimTransport: BunPlugin = {
  name: "slim-transport",
  setup(build) {
    build.onLoad({ filter: /neovim[\\/]lib[\\/]utils[\\/]transport\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const name of Object.keys(REQUIRED_BY_TRANSPORT)) {
        const changed = contents.replace(`require("${name}")`, `require("slim:${name}")`);
        if (changed === contents) throw new Error(`${path} does not require ${name} any more`);
        contents = changed;
      }
      return { contents, loader: "js" };
    });
    build.onResolve({ filter: /^slim:/ }, ({ path }) => ({
      path: path.slice("slim:".length),
      namespace: "slim",
    }));
    build.onLoad({ filter: /.*/, namespace: "slim" }, ({ path }) => ({
      contents: REQUIRED_BY_TRANSPORT[path] ?? "",
      loader: "js",
    }));
  },
};

/**
 * Bundles the sources in `source` for the executable. The working folder must be `source`, since the names of the
 * chunks depend on the path of the entry point.
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
      // Each command gets a chunk, so that a hook does not load the server, not even its bytecode.
      format: "esm",
      splitting: true,
      // Otherwise a required module gets a chunk of its own, which is also required.
      splitRequire: false,
      plugins: [slimTransport],
      ...more,
    } as Bun.BuildConfig);
  } finally {
    process.chdir(before);
  }
}

/**
 * Writes the executable for `target`, by default this machine, from the sources in `source`, by default this checkout.
 * The same sources give the same bytes if the outfile has the same name.
 */
export async function build(
  outfile: string,
  target?: Bun.Build.CompileTarget,
  source: string = root,
): Promise<void> {
  await mkdir(dirname(outfile), { recursive: true });
  // Build in another folder and rename the result, since a running executable must not be overwritten. The file's name
  // must stay the same, because it is part of the result.
  const work = await mkdtemp(join(dirname(outfile), ".build-"));
  try {
    const made = join(work, basename(outfile));
    await bundle(source, {
      minify: true,
      bytecode: true,
      compile: {
        outfile: made,
        ...(target && { target }),
        // A project's .env and bunfig.toml must not affect us.
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
  if (targets.length === 0) {
    await build(join(root, "dist", name));
    await writeFile(join(root, "doc/tags"), helpTags(join(root, "doc")));
  }
  for (const target of targets) {
    const suffix = target.includes("windows") ? ".exe" : "";
    await build(join(root, "dist", target, name + suffix), target);
  }
}

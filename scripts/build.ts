/**
 * Builds the executable: `bun run build [TARGET…]` writes dist/claude-code-nvim for this
 * machine, or dist/TARGET/claude-code-nvim for each of Bun's compile targets named. For this machine
 * it also writes doc/tags, without which `:help` finds nothing in a checkout that no plugin manager keeps.
 */
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { writeClaudePlugin } from "./claude-plugin";
import { helpTags } from "./help-tags";
import { signedAdHoc } from "./packaging/mach-o";

const root = dirname(import.meta.dir);
const name = "claude-code-nvim";

/**
 * Replaces a module that the transport of the `neovim` client requires. The transport prints messages only where it reads
 * them, which we do. The classes of buffers, windows and tab pages bring a logger, winston. And a
 * `require` of one of Bun's own modules, rather than an import, loads all that `require` needs.
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
      // Else a module that is required gets a chunk of its own, which is required, too.
      splitRequire: false,
      plugins: [slimTransport],
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
  if (targets.length === 0) {
    await build(join(root, "dist", name));
    await writeFile(join(root, "doc/tags"), helpTags(join(root, "doc")));
  }
  await writeClaudePlugin(join(root, "dist/claude-plugin"));
  for (const target of targets) {
    const suffix = target.includes("windows") ? ".exe" : "";
    await build(join(root, "dist", target, name + suffix), target);
  }
}

import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { chmod, chown, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import {
  claims,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  OLDEST,
  perBlock,
  type TestNeovim,
  temporaryFolder,
} from "#test";
import { join } from "../../src/lib/platform";
import { type HostileEntry, hostileArchive } from "../support/hostile-archive";
import { DataFolder, install, Publication } from "../support/installer";
import { platformSkip } from "../support/platform-skip";
import { mayBuild, TestRelease } from "../support/release";
import type { Behaviour } from "../support/release-server";

mayBuild();
let neovim: TestNeovim;
let data: DataFolder;

const published = perBlock(async () => Publication.start(await TestRelease.standIn()));

function inNeovim(version: NeovimVersion): void {
  beforeAll(async () => {
    neovim = await published.neovim(version);
  });
  afterAll(() => neovim[Symbol.asyncDispose]());
  beforeEach(async () => {
    data = await new DataFolder().use(neovim);
    published.server.reset("good");
    await limit("stall_s", 10);
    await limit("total_s", 60);
  });
  afterEach(() => data[Symbol.asyncDispose]());
}

/** In seconds: how long a server may be silent, and how long a download may take. */
function limit(which: "stall_s" | "total_s", seconds: number): Promise<unknown> {
  return neovim.lua(`require("port").archive.limits.${which} = ...`, seconds);
}

const failures: [Behaviour, RegExp][] = [
  ["404", /404/],
  ["redirect to http", /redirects to an address that is not https/],
  ["stalled", /too slow|timed out/],
  ["silent", /too slow|timed out/],
  ["cut off", /closed with \d+ bytes remaining/],
  ["truncated", /does not belong to version 0\.1\.0/],
  ["tampered", /does not belong to version 0\.1\.0/],
  ["too large", /larger than the release's|Maximum file size exceeded/],
  ["endless", /larger than the release's|Maximum file size exceeded/],
  ["drip", /timed out/],
];

describe.each(NEOVIMS)("a download in $name", (version) => {
  inNeovim(version);

  test.each(failures)("says that a server is %s", async (behaviour, message) => {
    claims("What the plugin downloads has the pinned SHA-256");
    const { server, release } = published;
    server.reset(behaviour);
    if (behaviour === "stalled" || behaviour === "silent") await limit("stall_s", 1);
    if (behaviour === "drip") await limit("total_s", 1);
    const outcome = await install(neovim);
    expect(outcome.path).toBeUndefined();
    expect(outcome.message).toMatch(message);
    expect(outcome.message).toContain(release.asset.file);
    expect(data.versions()).toEqual([]);
    expect(data.installedVersion()).toBeUndefined();
    expect(data.leftovers()).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  test("names what would do without curl, or a program for the check", async () => {
    const messages: (string | undefined)[] = [];
    for (const names of [["tar"], ["curl", "tar", "gzip"]]) {
      const programs = await folderWith(...names);
      await neovim.lua(`PATH = vim.env.PATH; vim.env.PATH = ...`, programs);
      messages.push((await install(neovim)).message);
      await neovim.lua(`vim.env.PATH = PATH`);
      await rm(programs, { recursive: true });
    }
    expect(messages[0]).toContain("`curl` is not on $PATH, which the download needs: install curl");
    expect(messages[1]).toMatch(/cannot be checked: sha256sum, shasum .* are missing/);
    expect(data.versions()).toEqual([]);
  });
});

function request(release: Record<string, string | number>): string {
  const fields = Object.entries(release).map(
    ([name, value]) => `${name} = ${JSON.stringify(value)}`,
  );
  return `{ release = { ${fields.join(", ")} } }`;
}

test("refuses an archive that differs from ours, whatever its checksum is", async () => {
  await using neovim = await published.neovim(NEWEST);
  const { asset, archive } = published.release;
  const top = asset.file.replace(".tar.gz", "");
  const path = `${top}/claude-code-nvim`;
  const content = `#!/bin/sh\necho "claude-code.nvim 0.1.0"\n`;
  const none = /is not a file|cannot unpack/;
  const cases: [entry: HostileEntry, before: string | undefined, message: RegExp | undefined][] = [
    [{ path, kind: "2", link: "/bin/sh" }, undefined, none],
    [{ path, kind: "1", link: "/bin/sh" }, undefined, none],
    [{ path, kind: "3" }, undefined, none],
    [{ path, mode: 0o6755, content }, undefined, undefined],
    [{ path: `${top}/../../owned`, content }, archive, undefined],
    [{ path: join(neovim.cwd, "owned"), content }, archive, undefined],
  ];
  for (const [entry, before, message] of cases) {
    await using data = await new DataFolder().use(neovim);
    const made = hostileArchive(entry, before);
    published.server.reset("good");
    published.server.replace(asset.file, made.bytes);
    const url = `${published.server.url}/${asset.file}`;
    const { bytes: _, ...pin } = made;
    const outcome = await install(neovim, request({ ...asset, ...pin, url, version: "0.1.0" }));
    if (message) expect([entry, outcome.message]).toEqual([entry, expect.stringMatching(message)]);
    else expect(statSync(outcome.path ?? "").mode & 0o7777).toBe(0o755);
    const names = readdirSync(data.xdg, { recursive: true, encoding: "utf8" });
    expect(names.filter((name) => name.endsWith("owned"))).toEqual([]);
    expect(existsSync(join(neovim.cwd, "owned"))).toBe(false);
    expect(data.versions()).toHaveLength(message ? 0 : 1);
  }
});

test("uses no folder that another user can change", async () => {
  await using neovim = await published.neovim(OLDEST);
  published.server.reset("good");
  for (const [mode, owner] of [
    [0o777, 0],
    [0o755, 65_534],
  ] as const) {
    if (owner && process.getuid?.() !== 0) {
      platformSkip("only root can chown");
      continue;
    }
    await using data = await new DataFolder().use(neovim);
    await mkdir(data.root);
    await chmod(data.root, mode);
    if (owner) await chown(data.root, owner, owner);
    const { path, message } = await install(neovim);
    expect([path, message]).toEqual([
      undefined,
      expect.stringContaining(`another user can write to ${data.root} and`),
    ]);
  }
  expect(published.server.requests).toEqual([]);
});

/** macOS 14 has shasum alone. */
const HASHER = Bun.which("sha256sum") ? "sha256sum" : "shasum";

test("runs no downloader or tar of the current folder, and says why", async () => {
  await using neovim = await published.neovim(NEWEST);
  const planted = ["curl", "sha256sum", "shasum", "tar"];
  for (const name of planted) {
    await writeFile(join(neovim.cwd, name), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
  }
  const messages: (string | undefined)[] = [];
  for (const real of [[], ["curl"], ["curl", HASHER]]) {
    await using _ = await new DataFolder().use(neovim);
    const programs = await folderWith(...real);
    await neovim.lua(`vim.env.PATH = ...`, `.:${programs}`);
    published.server.reset("good");
    messages.push((await install(neovim)).message);
    await rm(programs, { recursive: true });
  }
  const refused = (name: string) =>
    expect.stringContaining(`\`${name}\` is not run: only the relative entry \`.\` of $PATH`);
  expect(messages).toEqual([refused("curl"), refused("sha256sum"), refused("tar")]);
  expect(existsSync(join(neovim.cwd, "ran"))).toBe(false);
});

test("removes after a day what killed downloads left", async () => {
  await using neovim = await published.neovim(NEWEST);
  await using folder = await new DataFolder().use(neovim);
  const leave = async (name: string, ageSeconds: number) => {
    const changed = new Date(Date.now() - 1000 * ageSeconds);
    await writeFile(join(folder.download, name), "part");
    utimesSync(join(folder.download, name), changed, changed);
  };
  await mkdir(folder.download, { recursive: true });
  await leave(`${published.release.asset.file}.999999999.part`, 120);
  await leave("an-old-one.tar.gz.1.part", 90_000);
  published.server.reset("good");
  expect(await install(neovim)).toEqual({ path: folder.executable("0.1.0") });
  expect(folder.leftovers()).toEqual([`${published.release.asset.file}.999999999.part`]);
});

async function folderWith(...programs: string[]): Promise<string> {
  const folder = temporaryFolder();
  for (const program of programs) {
    const path = Bun.which(program);
    if (!path) throw new Error(`this machine has no ${program}`);
    await symlink(path, join(folder, program));
  }
  return folder;
}

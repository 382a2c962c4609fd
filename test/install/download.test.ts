import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { existsSync, utimesSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DataFolder, install, Publication } from "../support/installer";
import { NEOVIMS, type NeovimVersion, type TestNeovim, temporaryFolder } from "../support/neovim";
import { BUILD_MS, TestRelease } from "../support/release";
import type { Behaviour } from "../support/release-server";

setDefaultTimeout(BUILD_MS);

/** An archive for this machine, from a server on 127.0.0.1 that does what it should not. */
let published: Publication;
let neovim: TestNeovim;
let data: DataFolder;

beforeAll(async () => {
  published = await Publication.start(await TestRelease.standIn());
});
afterAll(() => published[Symbol.asyncDispose]());

function inNeovim(version: NeovimVersion): void {
  beforeAll(async () => {
    neovim = await published.neovim(version);
  });
  afterAll(() => neovim[Symbol.asyncDispose]());
  beforeEach(async () => {
    data = await new DataFolder().use(neovim);
    published.server.reset("good");
    await useTools("curl");
    await stallLimit(10);
  });
  afterEach(() => data[Symbol.asyncDispose]());
}

const TOOLS = ["curl", ...(Bun.which("wget") ? ["wget"] : [])];
if (TOOLS.length === 1) console.log("platform skip: no wget, so downloads by it are not tested");

function useTools(...tools: string[]): Promise<unknown> {
  return neovim.lua(`require("port").download.downloaders = ...`, tools);
}

/** In seconds: how long a server may say nothing. */
function stallLimit(limit: number): Promise<unknown> {
  return neovim.lua(`require("port").download.limits.stall_s = ...`, limit);
}

const failures: [Behaviour, RegExp][] = [
  ["404", /404/],
  ["redirect to http", /redirects to an address that is not https/],
  ["stalled", /does not answer|connection off/],
  ["silent", /does not answer|connection off/],
  ["cut off", /cut (the connection )?off/],
  ["truncated", /is not the archive that belongs to version 0\.1\.0/],
  ["tampered", /is not the archive that belongs to version 0\.1\.0/],
  ["too large", /larger than the release's|is not the archive that belongs to version/],
  ["endless", /larger than the release's/],
];

/** Neovim has no part in what the programs do, so that one of the two versions sees all. */
const byTool = (version: NeovimVersion) =>
  failures.flatMap(([behaviour, message]) =>
    (version === NEOVIMS[0] ? TOOLS : ["curl"]).map((tool) => [behaviour, tool, message] as const),
  );

describe.each(NEOVIMS)("a download in $name", (version) => {
  inNeovim(version);

  test.each(byTool(version))("from a server that is %s, by %s: says so", async (...row) => {
    const [behaviour, tool, message] = row;
    const { server, release } = published;
    server.reset(behaviour);
    await useTools(tool);
    if (behaviour === "stalled" || behaviour === "silent") await stallLimit(1);
    const outcome = await install(neovim);
    expect(outcome.path).toBeUndefined();
    expect(outcome.message).toMatch(message);
    expect(outcome.message).toContain(release.asset.file);
    expect(data.versions()).toEqual([]);
    expect(data.installedVersion()).toBeUndefined();
    expect(data.leftovers()).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  test("from no server at all: says so", async () => {
    const setMirror = (url: string) =>
      neovim.lua(`require("port").config.get().binary.mirror = ...`, url);
    await setMirror("http://127.0.0.1:1");
    const { message } = await install(neovim);
    await setMirror(published.server.url);
    expect(message).toMatch(/cannot download .*connect.*http:\/\/127\.0\.0\.1:1\/v0\.1\.0\//i);
  });

  test("without a program for it, or for the check: names those that would do", async () => {
    await useTools();
    expect((await install(neovim)).message).toContain("neither curl nor GNU Wget");
    await useTools("curl");
    const programs = await folderWith("curl", "tar", "gzip");
    await neovim.lua(`PATH = vim.env.PATH; vim.env.PATH = ...`, programs);
    const { message } = await install(neovim);
    await neovim.lua(`vim.env.PATH = PATH`);
    await rm(programs, { recursive: true });
    expect(message).toMatch(/cannot be checked: sha256sum, shasum .* are missing/);
    expect(data.versions()).toEqual([]);
  });
});

test("a downloader or tar of the current folder is not run, and the message says why", async () => {
  await using neovim = await published.neovim(NEOVIMS[1] as NeovimVersion);
  const planted = ["curl", "wget", "sha256sum", "shasum", "tar"];
  for (const name of planted) {
    await writeFile(join(neovim.cwd, name), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
  }
  const messages: (string | undefined)[] = [];
  for (const real of [[], ["curl"], ["curl", "sha256sum"]]) {
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

test("a tar that is killed half-way: what it has unpacked is not run", async () => {
  await using neovim = await published.neovim(NEOVIMS[0] as NeovimVersion);
  await using folder = await new DataFolder().use(neovim);
  const programs = await folderWith("curl", "sha256sum");
  const top = published.release.asset.file.replace(".tar.gz", "");
  const half = `#!/bin/sh\ntouch ${neovim.cwd}/ran\n`;
  const killed = `#!/bin/sh
PATH=/usr/bin:/bin
for folder; do [ -d "$folder" ] && break; done
mkdir "$folder/${top}" && printf '${half.replaceAll("\n", "\\n")}' >"$folder/${top}/claude-code-nvim"
chmod 755 "$folder/${top}/claude-code-nvim"
kill -9 $$
`;
  await writeFile(join(programs, "tar"), killed, { mode: 0o755 });
  await neovim.lua(`vim.env.PATH = ...`, programs);
  published.server.reset("good");
  const { path, message } = await install(neovim);
  await rm(programs, { recursive: true });
  expect([path, message]).toEqual([undefined, expect.stringContaining("cannot unpack")]);
  expect(existsSync(join(neovim.cwd, "ran"))).toBe(false);
  expect([folder.versions(), folder.leftovers()]).toEqual([[], []]);
});

test("what killed downloads left behind is removed after a day", async () => {
  await using neovim = await published.neovim(NEOVIMS[1] as NeovimVersion);
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

/** A folder with links to these programs alone. */
async function folderWith(...programs: string[]): Promise<string> {
  const folder = temporaryFolder();
  for (const program of programs) {
    const path = Bun.which(program);
    if (!path) throw new Error(`this machine has no ${program}`);
    await symlink(path, join(folder, program));
  }
  return folder;
}

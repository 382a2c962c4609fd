import { readlinkSync, utimesSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import {
  EXECUTABLE,
  eventually,
  NEOVIMS,
  NEWEST,
  type NeovimVersion,
  nightly,
  OLDEST,
  perBlock,
  perTest,
} from "#test";
import { dirname, join } from "../../src/lib/platform";
import { CERTIFICATE, KEY } from "../support/certificate";
import { DataFolder, install, Publication, reaches } from "../support/installer";
import { mayBuild, TestRelease } from "../support/release";

mayBuild();

const old = perBlock(async () => Publication.start(await TestRelease.standIn()));
const next = perBlock(async () =>
  Publication.start(await TestRelease.standIn({ version: "0.2.0" })),
);
const data = perTest(() => new DataFolder());
beforeEach(() => {
  old.server.reset("good");
  next.server.reset("good");
});

/** A Neovim with the plugin of a release, and its user's data folder. */
const start = (
  version: NeovimVersion,
  published: Publication,
  mirror = published.server.url,
  env: Record<string, string> = {},
) =>
  published.watched(version, published.starting("", mirror), { XDG_DATA_HOME: data.xdg, ...env });

async function installed(): Promise<void> {
  await using neovim = await old.neovim(OLDEST, { XDG_DATA_HOME: data.xdg });
  await data.use(neovim);
  expect(await install(neovim)).toEqual({ path: data.executable("0.1.0") });
}

test.each(NEOVIMS)(
  "keeps the previous version if there is no new one, in $name",
  async (version) => {
    await installed();
    for (const mirror of [next.server.url, "http://127.0.0.1:9"]) {
      next.server.reset("404");
      await using neovim = await start(version, next, mirror);
      const { last_error } = await reaches(neovim, "failed");
      expect(last_error).toMatch(/cannot download .*:Claude install tries again/);
      expect(last_error).toContain(mirror);
      expect(data.installedVersion()).toBe("0.1.0");
      expect(next.server.requests.length).toBe(mirror === next.server.url ? 1 : 0);
    }
    next.server.reset("good");
    await using neovim = await start(version, next);
    expect((await reaches(neovim, "ready")).binary?.path).toBe(data.executable("0.2.0"));
    expect(data.installedVersion()).toBe("0.2.0");
  },
);

nightly.test("leads the stable path to the version in use, an older one, too", async () => {
  await installed();
  const version = NEWEST;
  await (async () => {
    await using newer = await start(version, next);
    await reaches(newer, "ready");
  })();
  expect(data.installedVersion()).toBe("0.2.0");
  await using older = await start(version, old);
  expect((await reaches(older, "ready")).binary?.path).toBe(data.executable("0.1.0"));
  await eventually("the stable path", () => readlinkSync(data.stable).includes("/0.1.0-"));
  expect(old.server.requests).toHaveLength(1);
});

test.each(NEOVIMS)("uses no other host if the mirror is refused, in $name", async (version) => {
  await using neovim = await start(version, old, "http://mirror.example/claude");
  const { last_error } = await reaches(neovim, "failed");
  expect(last_error).toContain("correct binary.mirror");
  expect(last_error).toContain("nothing replaces it");
  expect(await install(neovim)).toEqual({ message: expect.stringContaining("binary.mirror") });
  await neovim.lua(`require("claude-code").setup({ auto_start = false, binary = { mirror = 5 } })`);
  expect(await install(neovim)).toEqual({ message: expect.stringContaining("binary.mirror") });
});

nightly.test.each(NEOVIMS)(
  "downloads only once what does not run here, in $name",
  async (version) => {
    const release = await TestRelease.standIn({ version: "0.3.0", program: "exit 127" });
    await using broken = await Publication.start(release);
    for (const requests of [1, 1]) {
      await using neovim = await start(version, broken);
      const { last_error } = await reaches(neovim, "failed");
      expect(last_error).toContain("does not run on this machine");
      expect(broken.server.requests).toHaveLength(requests);
      expect(data.leftovers()).toEqual([broken.release.asset.file]);
      // This also holds days later.
      utimesSync(join(data.root, "download", broken.release.asset.file), 0, 0);
    }
    await using neovim = await start(version, broken);
    await reaches(neovim, "failed");
    expect((await install(neovim)).message).toContain("does not run on this machine");
    expect(broken.server.requests).toHaveLength(1);
  },
);

nightly.test("names :Claude install for what a power cut or a disk has damaged", async () => {
  await using neovim = await old.neovim(OLDEST, { XDG_DATA_HOME: data.xdg });
  await mkdir(dirname(data.executable("0.1.0")), { recursive: true });
  const whole = await Bun.file(EXECUTABLE).bytes();
  const header = whole.slice();
  header[16] = ~(header[16] ?? 0) & 0xff;
  const damages = { "cut off": whole.slice(0, -100_000), empty: new Uint8Array(), header };
  for (const [name, bytes] of Object.entries(damages)) {
    await writeFile(data.executable("0.1.0"), bytes, { mode: 0o755 });
    await neovim.lua(`require("claude-code").start()`);
    const message = await eventually("the failure", () =>
      neovim.lua<string | false>(
        `local now = require("claude-code").status() return now.state == "failed" and now.last_error`,
      ),
    );
    expect([name, message]).toEqual([name, expect.stringContaining(":Claude install")]);
  }
  expect(await install(neovim)).toEqual({ path: data.executable("0.1.0") });
  expect(data.installedVersion()).toBe("0.1.0");
});

nightly.test.each(NEOVIMS)("names a certificate that is not trusted, in $name", async (version) => {
  using server = Bun.serve({
    port: 0,
    tls: { cert: CERTIFICATE, key: KEY },
    fetch: () => new Response(Bun.file(old.release.archive)),
  });
  const url = `https://localhost:${server.port}`;
  await using neovim = await start(version, old, url);
  const { last_error } = await reaches(neovim, "failed");
  expect(last_error).toContain("certificate is not trusted here");
  expect(last_error).toContain("CURL_CA_BUNDLE");
  expect(last_error).not.toContain("web page");
  const authority = join(data.xdg, "company.pem");
  await writeFile(authority, CERTIFICATE);
  await using trusting = await start(version, old, url, { CURL_CA_BUNDLE: authority });
  await reaches(trusting, "ready");
});

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { closeSync, ftruncateSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { eventually } from "../support/eventually";
import { DataFolder, install, Publication } from "../support/installer";
import { NEOVIMS, NEWEST, nightly } from "../support/neovim";
import { BUILD_MS, TestRelease } from "../support/release";
import { EXECUTABLE } from "../support/toolchain";

setDefaultTimeout(BUILD_MS);

/** An executable that a power cut or a disk has damaged after it was installed. */
let published: Publication;
let data: DataFolder;

beforeAll(async () => {
  published = await Publication.start(await TestRelease.standIn());
});
afterAll(() => published[Symbol.asyncDispose]());
beforeEach(() => {
  data = new DataFolder();
  published.server.reset("good");
});
afterEach(() => data[Symbol.asyncDispose]());

/** Changes an open file. */
type Damage = (file: number) => void;

function flip(offset: number): Damage {
  return (file) => {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    writeSync(file, Buffer.from([~(byte[0] ?? 0)]), 0, 1, offset);
  };
}

function damage(path: string, change: Damage): void {
  const file = openSync(path, "r+");
  change(file);
  closeSync(file);
}

const empty: Damage = (file) => ftruncateSync(file, 0);
const cutOff: Damage = (file) => ftruncateSync(file, statSync(EXECUTABLE).size - 100_000);
const damages: [name: string, change: Damage][] = [
  ["cut off", cutOff],
  ["empty", empty],
  ["with a changed byte in its header", flip(16)],
];

nightly.test.each(NEOVIMS)("$name names :Claude install for what does not run", async (version) => {
  await using neovim = await published.neovim(version, { XDG_DATA_HOME: data.xdg });
  await mkdir(dirname(data.executable("0.1.0")), { recursive: true });
  for (const [name, change] of damages) {
    await copyFile(EXECUTABLE, data.executable("0.1.0"));
    damage(data.executable("0.1.0"), change);
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

test("one that has a changed byte, and prints its version nevertheless, is replaced by :Claude install!", async () => {
  await using neovim = await published.neovim(NEWEST, {
    XDG_DATA_HOME: data.xdg,
  });
  await install(neovim);
  damage(data.executable("0.1.0"), flip(statSync(data.executable("0.1.0")).size - 1000));
  expect(data.installedVersion()).toBe("0.1.0");
  const before = statSync(data.executable("0.1.0")).ino;
  expect(await install(neovim, "{ force = true }")).toEqual({ path: data.executable("0.1.0") });
  expect(statSync(data.executable("0.1.0")).ino).not.toBe(before);
  expect(published.server.requests).toHaveLength(2);
});

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { needs, onEachNeovim } from "#test";
import { join } from "../../src/lib/platform";

onEachNeovim((session) => {
  needs("symlinks")("reads only regular files, and no more than they hold", async () => {
    const { neovim } = session;
    const at = (name: string) => join(neovim.cwd, name);
    writeFileSync(at("text"), "\xff\r\n\0end", "latin1");
    writeFileSync(at("empty"), "");
    mkdirSync(at("folder"));
    Bun.spawnSync(["mkfifo", at("fifo")]);
    symlinkSync("/dev/zero", at("endless"));
    const names = ["text", "empty", "folder", "fifo", "endless", "missing"].map(at);
    const both = `
      local files = require("port").regular_files
      return vim.tbl_map(function(name)
        local whole, head = files.read(name, 8), files.head(name, 2)
        return { whole and vim.base64.encode(whole) or "-", head and vim.base64.encode(head) or "-" }
      end, ...)`;
    const found = await neovim.lua<[string, string][]>(both, [...names, "/proc/self/status"]);
    const texts = found.map((pair) =>
      pair.map((one) => (one === "-" ? undefined : Buffer.from(one, "base64").toString("latin1"))),
    );
    const none = ["", ""];
    const nothing = [undefined, undefined];
    const text = ["\xff\r\n\0end", "\xff\r"];
    expect(texts.slice(0, 6)).toEqual([text, none, ...Array(4).fill(nothing)]);
    if (process.platform === "linux") expect(texts[6]).toEqual(none);
    writeFileSync(at("text"), "123456789");
    expect(await neovim.lua(both, names.slice(0, 1))).toEqual([["-", btoa("12")]]);
  });
});

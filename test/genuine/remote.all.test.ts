import { describe, expect, test } from "bun:test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { Container } from "../support/remote";
import { claudeCli } from "../support/toolchain";
import { edit } from "../support/turns";
import { eventually } from "./eventually";
import { MODIFIED, REJECTED, UPDATED } from "./first-light";
import { START_MS } from "./in-terminal";
import { accepts, InRemote, reconnects, reviews, shows, starts, type Way } from "./remote";

requireNamespace();

const WAYS: [name: string, way: Way][] = [
  ["a container, the project at another path", { at: Container.PROJECT, by: "exec" }],
  ["a container, the project at the same path", { by: "exec" }],
];

describe.each(WAYS)("Claude in %s", (_name, way) => {
  const claude = InRemote.inBlock(way);
  starts(claude);
  accepts(claude);

  test("edited, then accepted: the model learns of it", async () => {
    const proposal = await claude.propose("one", "two");
    await claude.neovim.terminal.type("GA -- mine");
    await claude.press("Escape");
    await claude.neovim.terminal.type(":w");
    await claude.press("Enter");
    expect(newsText(await claude.received("updated successfully"))).toContain(MODIFIED);
    await claude.written(proposal.replace("return name\n", "return name -- mine\n"));
  });

  test("rejected: nothing changes", async () => {
    const text = await claude.onDisk("main.lua");
    await claude.propose("two", "three");
    await claude.press("q");
    await eventually(() => claude.neovim.diff(), null);
    await claude.written(text);
    await claude.showing(/Rejected update/);
    claude.model.script([[{ text: "Understood." }]]);
    await claude.command("Claude send! -- go on");
    expect(newsText(await claude.model.nextRequest())).toContain(REJECTED);
    await claude.showing(/Understood\./);
  });

  test("what an edit broke is sent with its result, and Claude may not stop before it is repaired", async () => {
    await claude.neovim.startServer("main.lua", claude.home);
    const repair = edit(claude.inside("main.lua"), "return WRONG", "return name");
    await claude.propose("return name", "return WRONG", repair, [{ text: "Repaired." }]);
    await claude.press("Enter");
    const said = newsText(await claude.received(UPDATED));
    expect(said).toContain("<new-diagnostics>");
    expect(said).toContain("return WRONG");
    const held = newsText(await claude.received("Stop hook"));
    expect(held).toContain("Found 1 error and 0 warnings in edited files.");
    expect(held).toContain("main.lua:2:1 error");
    const repaired = await claude.shown("return WRONG", "return name");
    await claude.press("Enter");
    await claude.received(UPDATED);
    await claude.written(repaired);
    await claude.showing(/Repaired\./);
    await claude.turnEnded();
  });

  shows(claude);
  reconnects(claude);

  test("when the executable is killed, the CLI connects again, by the same port", async () => {
    const before = claude.locks();
    await claude.propose("return name", "return again");
    process.kill(
      await claude.neovim.lua<number>(`return require("port").server.process.pid`),
      "SIGKILL",
    );
    await eventually(() => claude.clients(), []);
    await eventually(() => claude.neovim.diff(), null);
    await claude.joined();
    expect(claude.locks()).toEqual(before);
    await claude.leaveQuestion();
  });

  reviews(claude);

  test("when the CLIs are killed, their sessions end", async () => {
    const pids = claude.container.pids(`^${claudeCli()} .*--session-id`);
    expect(pids).toHaveLength(2);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await eventually(() => claude.clients(), [], START_MS);
  });
});

describe("Claude on another machine, by ssh", () => {
  const claude = InRemote.inBlock({ at: Container.PROJECT, by: "ssh" });
  for (const capability of [starts, accepts, shows, reconnects, reviews]) capability(claude);
});

import { beforeAll, describe, expect, test } from "bun:test";
import { checkExecutable, executableKind } from "../../scripts/packaging/executable-file";
import { signatureProblem, signedAdHoc } from "../../scripts/packaging/mach-o";
import { buildExecutable } from "../../scripts/packaging/release";
import { TARGETS, targetsNamed } from "../../scripts/packaging/targets";
import { mayBuild, TestRelease } from "../support/release";

mayBuild();

/** What takes another build of the executable. All targets: `scripts/release --check`. */
const [DARWIN] = targetsNamed(["darwin-x64"]);
let release: TestRelease;

beforeAll(async () => {
  release = await TestRelease.build();
});

test("an archive is the same, byte for byte, built again in another folder", async () => {
  const again = await TestRelease.create();
  expect(again.source).not.toBe(release.source);
  expect(again.assets).toEqual(release.assets);
  expect(await Bun.file(again.archive).bytes()).toEqual(await Bun.file(release.archive).bytes());
});

describe("an executable for another system", () => {
  let executable: Buffer;
  beforeAll(async () => {
    if (!DARWIN) throw new Error("no target darwin-x64");
    executable = await buildExecutable(release.source, DARWIN);
  });

  test("has its format and machine, and a valid ad-hoc signature", () => {
    expect(executableKind(executable)).toEqual({ format: "Mach-O", machine: "x64" });
    expect(signatureProblem(executable)).toBeUndefined();
    expect(signedAdHoc(executable, "claude-code-nvim")).toBe(executable);
  });

  test("a changed byte, a cut end or added bytes make the signature invalid", () => {
    const changed = Buffer.from(executable);
    changed[50_000_000] = (changed[50_000_000] ?? 0) ^ 1;
    expect(signatureProblem(changed)).toMatch(/does not match the bytes from 49999872 on/);
    const added = Buffer.concat([executable, Buffer.alloc(1)]);
    expect(signatureProblem(added)).toContain("not its end");
    expect(signatureProblem(signedAdHoc(changed, "claude-code-nvim"))).toBeUndefined();
  });

  test("is refused as one for any other target", () => {
    for (const target of TARGETS.filter(({ name }) => name !== "darwin-x64")) {
      expect(() => checkExecutable(executable, target)).toThrow(`for ${target.name} has the`);
    }
  });
});

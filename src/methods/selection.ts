import * as v from "valibot";
import { defineMethod } from "./method";

/**
 * Spec 05: lines 1-based, columns 0-based in characters, `start` and `end` 1-based character
 * offsets, the end behind the last character. Only `active` when nothing is selected.
 */
export const selection = defineMethod({
  name: "editor/selection",
  description: "The selected text and where it is",
  input: v.object({}),
  answer: (editor) => editor.region(),
});

/** Something that the person who called can mend; its message is a sentence. Nothing was changed. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

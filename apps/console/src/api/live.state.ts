/** The features whose queries a change of these subjects concerns; everything where it is not known what has changed. */
export function featuresOf(subjects: readonly string[]): string[] {
  const found = new Set<string>();
  for (const subject of subjects) {
    if (subject === "*") return ["rollouts", "targets", "actions", "targetFilters"];
    const kind = subject.split("/", 1)[0] ?? "";
    if (kind === "rollouts") found.add("rollouts");
    if (kind === "targets") {
      found.add("targets");
      found.add("actions");
    }
  }
  return [...found];
}

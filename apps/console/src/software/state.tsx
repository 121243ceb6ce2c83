import { software as t } from "../text/en.ts";
import { Mark } from "../ui/status.tsx";

interface SoftwareState {
  readonly complete?: boolean;
  readonly locked?: boolean;
  readonly valid?: boolean;
}

/** Whether a module can be used; one that has no files yet says so, whether its type needs some or not. */
export function ModuleState({ files, ...module }: SoftwareState & { readonly files: number | undefined }) {
  if (files === 0 && !module.locked) {
    const needed = module.complete === false;
    return <Mark pill tone={needed ? "warn" : "wait"} sign={needed ? "?" : "○"} word={t.noFiles} />;
  }
  return <SoftwareState {...module} pill />;
}

/** Whether a set or a module can be used. */
export function SoftwareState({ complete, locked, valid, pill }: SoftwareState & { readonly pill?: boolean }) {
  if (valid === false) return <Mark pill={pill ?? false} tone="deny" sign="⊘" word={t.states.invalid} />;
  if (complete === false) return <Mark pill={pill ?? false} tone="warn" sign="?" word={t.states.incomplete} />;
  return locked ? (
    <Mark pill={pill ?? false} tone="run" sign="▸" word={t.states.locked} />
  ) : (
    <Mark pill={pill ?? false} tone="ok" sign="✓" word={t.states.ready} />
  );
}

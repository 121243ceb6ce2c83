import { savedFilters as t } from "../text/en.ts";
import { Mark } from "../ui/status.tsx";
import { assignmentSigns } from "./filters.state.ts";

/** The state of an auto-assignment in sign and word. */
export function AssignmentStatus({ status }: { status: string }) {
  const { tone, sign } = assignmentSigns[status] ?? { tone: "warn" as const, sign: "?" };
  return <Mark tone={tone} sign={sign} word={status === "off" ? t.off : (t.states[status] ?? status)} />;
}

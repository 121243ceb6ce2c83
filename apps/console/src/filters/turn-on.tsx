import type { TargetFilterView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { ask, askSeen, change, problemOf, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { common, savedFilters as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Check, Choice, Field } from "../ui/field.tsx";
import { SetChoice } from "../ui/set-choice.tsx";
import { Note } from "../ui/states.tsx";
import { bodyOf, draftOf, keptOf, weightOf } from "./filters.state.ts";

interface TurnOnProps {
  readonly close: () => void;
}

/** How many devices would get the set now: those that match, without those that have it or get it already. */
function useReceivers(query: string, set: string): { readonly number?: number; readonly error?: unknown } {
  const all = useQuery(ask(r.targets.list, { query: { q: query, limit: 1 } }));
  const has = `(${query});(installedds.id==${set},assignedds.id==${set})`;
  const having = useQuery({ ...ask(r.targets.list, { query: { q: has, limit: 1 } }), enabled: set !== "" });
  const error = all.error ?? having.error;
  if (error !== null) return { error };
  if (all.data?.total === undefined || having.data?.total === undefined) return {};
  return { number: all.data.total - having.data.total };
}

/** Lets a filter assign a set, or changes what it assigns. */
export function TurnOn({ of: { id, name }, ...rest }: TurnOnProps & { of: Pick<TargetFilterView, "id" | "name"> }) {
  return (
    <Reading asked={askSeen(r.targetFilters.get, { params: { filterId: id } })} title={name} close={rest.close}>
      {(seen) => <Known seen={seen} {...rest} />}
    </Reading>
  );
}

function Known({ seen: { body: filter, tag, again }, close }: TurnOnProps & { seen: Seen<TargetFilterView> }) {
  const { value, edit, changed, nothing } = useEdits(draftOf(filter));
  const { number, error } = useReceivers(filter.query, value.set);
  const isOn = filter.autoAssignDistributionSet !== null;
  const run = async () => {
    // A body replaces all that it can name, so it carries also what this form does not show.
    const body = bodyOf(filter, value, changed);
    await change(r.targetFilters.setAutoAssign, { params: { filterId: filter.id }, body, ifMatch: tag });
    await invalidate("targetFilters", "autoAssignments");
  };
  const incomplete = value.set === "" ? t.setFirst : weightOf(value.weight) === undefined ? t.weightWrong : undefined;
  const kept = keptOf(filter).filter(([, what]) => what !== undefined);
  return (
    <FormDialog
      open
      close={close}
      title={isOn ? t.changeTitle : t.turnOn}
      text={
        number !== undefined
          ? t.turnOnText(number)
          : error !== undefined
            ? t.notCounted(problemOf(error).text)
            : value.set === ""
              ? t.turnOnFirst
              : t.counting
      }
      button={isOn ? common.save : t.turnOn}
      why={incomplete ?? (isOn ? nothing : undefined)}
      run={run}
      again={again}
    >
      <SetChoice value={value.set} onChange={(set) => edit({ set })} />
      <Choice
        label={t.give}
        value={value.type}
        onChange={(type) => edit({ type })}
        options={Object.entries(t.forces).map(([type, label]) => ({ value: type, label }))}
      />
      <Field
        label={t.weight}
        hint={t.weightHint}
        value={value.weight}
        onChange={(weight) => edit({ weight })}
        inputMode="numeric"
        maxLength={4}
      />
      <Check
        label={t.confirmation}
        checked={value.asks}
        onChange={(asks) => edit({ asks })}
        {...(filter.confirmationRequired === null && { hint: t.confirmationHint })}
      />
      {kept.length > 0 && <Note>{t.keeps(kept.map(([label, what]) => `${label} ${what}`).join(", "))}</Note>}
    </FormDialog>
  );
}

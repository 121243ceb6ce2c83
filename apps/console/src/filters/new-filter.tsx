import type { TargetFilterView } from "@harrier/contracts";
import { useNavigate } from "@tanstack/react-router";
import { askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { FilterField } from "../fiql/filter-field.tsx";
import { problemOfQuery } from "../fiql/problem.ts";
import { common, filterMenu, savedFilters as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { toast } from "../ui/toast.tsx";

interface FilterFormProps {
  readonly close: () => void;
  /** The filter that is changed; absent for a new one. */
  readonly of?: { readonly id: number; readonly name: string };
  /** What a new one begins with, where it is saved from a list: its page is not opened then. */
  readonly query?: string;
}

/** Makes a filter, or changes its name and query. */
export function FilterForm({ close, of, query }: FilterFormProps) {
  if (of === undefined) return <Known close={close} from={query} />;
  return (
    <Reading asked={askSeen(r.targetFilters.get, { params: { filterId: of.id } })} title={of.name} close={close}>
      {(seen) => <Known seen={seen} close={close} />}
    </Reading>
  );
}

interface KnownProps {
  readonly seen?: Seen<TargetFilterView>;
  readonly close: () => void;
  readonly from?: string | undefined;
}

function Known({ seen, close, from }: KnownProps) {
  const of = seen?.body;
  const { value, edit, changed, nothing } = useEdits({ name: of?.name ?? "", query: of?.query ?? from ?? "" });
  const navigate = useNavigate();
  const { name, query } = value;
  const problem = problemOfQuery(query);
  const run = async () => {
    const { id } = of
      ? await change(r.targetFilters.update, { params: { filterId: of.id }, body: changed, ifMatch: seen?.tag })
      : await change(r.targetFilters.create, { body: { name: name.trim(), query: query.trim() } });
    await invalidate("targetFilters", "autoAssignments");
    if (from !== undefined) toast(filterMenu.wasSaved(name.trim()));
    else if (!of) await navigate({ to: "/filters/$filterId", params: { filterId: String(id) } });
  };
  return (
    <FormDialog
      open
      close={close}
      title={of?.name ?? t.new}
      text={of ? undefined : t.newText}
      button={of ? common.save : common.create}
      why={name.trim() === "" ? common.nameFirst : query.trim() === "" ? t.queryFirst : (problem ?? nothing)}
      run={run}
      again={seen?.again}
    >
      <Field label={common.name} value={name} onChange={(next) => edit({ name: next })} maxLength={limits.name} autoFocus />
      <FilterField label={t.query} hint={t.queryHint} value={query} onChange={(next) => edit({ query: next })} />
    </FormDialog>
  );
}

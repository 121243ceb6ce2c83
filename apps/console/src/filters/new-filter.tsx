import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { problemOfQuery } from "../fiql/problem.ts";
import { common, savedFilters as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";

interface FilterFormProps {
  readonly close: () => void;
  /** The filter that is changed; absent for a new one. */
  readonly of?: { readonly id: number; readonly name: string; readonly query: string };
}

/** Makes a filter, or changes its name and query. */
export function FilterForm({ close, of }: FilterFormProps) {
  const [name, setName] = useState(of?.name ?? "");
  const [query, setQuery] = useState(of?.query ?? "");
  const navigate = useNavigate();
  const problem = problemOfQuery(query);
  const run = async () => {
    const body = { name: name.trim(), query: query.trim() };
    const { id } = of
      ? await change(r.targetFilters.update, { params: { filterId: of.id }, body })
      : await change(r.targetFilters.create, { body });
    await invalidate("targetFilters", "autoAssignments");
    if (!of) await navigate({ to: "/filters/$filterId", params: { filterId: String(id) } });
  };
  return (
    <FormDialog
      open
      close={close}
      title={of?.name ?? t.new}
      text={of ? undefined : t.newText}
      button={of ? common.save : common.create}
      why={name.trim() === "" ? common.nameFirst : query.trim() === "" ? t.queryFirst : problem}
      run={run}
    >
      <Field label={common.name} value={name} onChange={setName} maxLength={128} autoFocus />
      <Field
        label={t.query}
        hint={t.queryHint}
        error={problem}
        value={query}
        onChange={setQuery}
        maxLength={1024}
        lines
        spellCheck={false}
      />
    </FormDialog>
  );
}

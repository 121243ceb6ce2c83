import { Columns3 } from "lucide-react";
import { lazy, Suspense } from "react";
import { devices as t } from "../text/en.ts";
import { Drop } from "../ui/drop.tsx";
import { Check } from "../ui/field.tsx";
import { allColumns, type ColumnId, isAttribute, keyOf } from "./devices.state.ts";

const AddAttribute = lazy(() => import("./add-attribute.tsx").then(({ AddAttribute: it }) => ({ default: it })));

/** Chooses the columns, which the address of the page holds. */
export function ColumnMenu({ columns, onChange }: { columns: readonly ColumnId[]; onChange: (columns: ColumnId[]) => void }) {
  const toggle = (id: ColumnId, on: boolean) => onChange(on ? [...columns, id] : columns.filter((one) => one !== id));
  const attributes = columns.filter(isAttribute);
  return (
    <Drop
      label={
        <>
          <Columns3 size={14} aria-hidden />
          {t.choose}
        </>
      }
    >
      {allColumns
        .filter((id) => id !== "name")
        .map((id) => (
          <Check key={id} label={t.columns[id] ?? id} checked={columns.includes(id)} onChange={(on) => toggle(id, on)} />
        ))}
      {attributes.map((id) => (
        <Check key={id} label={keyOf(id)} of={t.attribute} checked onChange={(on) => toggle(id, on)} />
      ))}
      <Suspense>
        <AddAttribute shown={attributes} add={(id) => toggle(id, true)} />
      </Suspense>
    </Drop>
  );
}

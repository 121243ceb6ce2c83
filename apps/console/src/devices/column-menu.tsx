import { Columns3 } from "lucide-react";
import { devices as t } from "../text/en.ts";
import { Drop } from "../ui/drop.tsx";
import { Check } from "../ui/field.tsx";
import { allColumns, type ColumnId } from "./devices.state.ts";

/** Chooses the columns, which the address of the page holds. */
export function ColumnMenu({ columns, onChange }: { columns: readonly ColumnId[]; onChange: (columns: ColumnId[]) => void }) {
  const toggle = (id: ColumnId, on: boolean) => onChange(on ? [...columns, id] : columns.filter((one) => one !== id));
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
    </Drop>
  );
}

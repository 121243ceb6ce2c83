import { Copy } from "lucide-react";
import { copying as t } from "../text/en.ts";
import { Button } from "./button.tsx";
import { toast } from "./toast.tsx";

/** Puts a text onto the clipboard and says so. Browsers have one only in secure contexts; elsewhere it says that it could not. */
export function copyText(text: string): void {
  const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
  done.then(
    () => toast(t.copied),
    () => toast(t.cannotCopy, "bad"),
  );
}

/** A small button that copies. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <Button look="ghost" small aria-label={label} onClick={() => copyText(text)}>
      <Copy size={13} aria-hidden />
    </Button>
  );
}

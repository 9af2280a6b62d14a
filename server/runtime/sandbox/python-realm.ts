type Import = (...values: never[]) => unknown;

/**
 * Functions by which Python acts on JavaScript objects, loads WebAssembly or starts a process, and their return values
 * on failure; `thrown` is the value of a thrown error. Through any of them a program could reach the runtime. Python
 * can then only hold a JavaScript object.
 */
const gatedFunctions: Record<string, "thrown" | number> = {
  js2python_convert: 0,
  raw_call_js: 0,
  pyodide_js_init: 0,
  set_pyodide_module: 0,
  JsException_new_helper: "thrown",
  JsModule_GetAll_js: "thrown",
  // Capabilities of an object: none.
  JsProxy_compute_typeflags: 0,
  JsProxy_GetAttr_js: "thrown",
  JsProxy_SetAttr_js: -1,
  JsProxy_DelAttr_js: -1,
  JsProxy_Dir_js: "thrown",
  JsProxy_GetIter_js: "thrown",
  JsProxy_GetAsyncIter_js: "thrown",
  JsProxy_subscript_js: "thrown",
  JsProxy_exit_js: -1,
  JsProxy_aexit_js: "thrown",
  JsProxy_to_weakref_js: "thrown",
  JsObjMap_GetIter_js: "thrown",
  JsObjMap_length_js: -1,
  JsObjMap_subscript_js: "thrown",
  JsObjMap_ass_subscript_js: -1,
  JsObjMap_contains_js: -1,
  JsMap_GetIter_js: "thrown",
  JsMap_clear_js: -1,
  handle_next_result_js: "thrown",
  _agen_handle_result_js: -1,
  JsvArray_Set: -1,
  JsvArray_Delete: "thrown",
  JsvArray_Insert: -1,
  JsvArray_slice: "thrown",
  JsvArray_slice_assign: -1,
  JsArray_repeat_js: "thrown",
  JsArray_inplace_repeat_js: -1,
  JsArray_reverse_js: -1,
  JsArray_reversed_iterator: "thrown",
  JsArray_count_js: -1,
  JsArray_index_js: -1,
  JsvBuffer_assignToPtr: -1,
  JsvBuffer_assignFromPtr: -1,
  JsvBuffer_writeToFile: -1,
  JsvBuffer_readFromFile: -1,
  JsvBuffer_intoFile: -1,
  JsBuffer_DecodeString_js: "thrown",
  JsvObject_Entries: "thrown",
  JsvObject_Keys: "thrown",
  JsvObject_Values: "thrown",
  JsvObject_toString: "thrown",
  JsvObject_CallMethod: "thrown",
  JsvObject_CallMethod_NoArgs: "thrown",
  JsvObject_CallMethod_OneArg: "thrown",
  JsvObject_CallMethod_TwoArgs: "thrown",
  JsvFunction_Construct: "thrown",
  JsvFunction_CallBound: "thrown",
  _dlopen_js: 0,
  _dlsym_js: 0,
  _emscripten_dlopen_js: 0,
  // ENOSYS, as on a system without processes.
  _emscripten_system: -52,
};

/**
 * Puts a gate on each function from the interpreter into JavaScript. A closed gate only passes calls of the allowed
 * functions.
 */
export function gateFunctions(imports: Record<string, unknown>, thrown: symbol) {
  let open: ReadonlySet<unknown> | null = null;
  for (const [name, failure] of Object.entries(gatedFunctions)) {
    const original = imports[name] as Import | undefined;
    if (typeof original !== "function") throw new Error(`The interpreter has no ${name}.`);
    const calls = name === "JsvFunction_CallBound";
    const gate = (...values: never[]) => {
      if (open === null || (calls && open.has(values[0]))) return original(...values);
      return failure === "thrown" ? thrown : failure;
    };
    // Copies the signature, which the interpreter reads from the function.
    imports[name] = Object.assign(gate, original);
  }
  return {
    /** Closes the gates: from now on Python can call only these functions. */
    close(functions: readonly unknown[]): void {
      open = new Set(functions);
    },
  };
}

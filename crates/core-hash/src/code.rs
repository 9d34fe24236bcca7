//! Tokens of Rust sources without comments and test code.

use crate::Files;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, ImplItem, Item, Meta, MetaList, Token, TraitItem};

/// Return each source's tokens, one per line. Files that only test modules declare are left out.
pub(crate) fn code_of(sources: &Files) -> Result<Files, String> {
    let mut modules = Modules::default();
    let mut files = Vec::new();
    for (path, text) in sources {
        let mut file = syn::parse_file(text).map_err(|error| format!("{}: {error}", path.display()))?;
        modules.remove_tests(&mut file.items, &module_path(path));
        files.push((path, file));
    }
    files.retain(|(path, _)| !modules.only_tests_reach(&module_path(path)));
    let code = files.into_iter().map(|(path, file)| {
        let mut tokens = String::new();
        write_tokens(file.into_token_stream(), &mut tokens).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok((path.clone(), tokens))
    });
    code.collect()
}

/// Folder of a file's child modules.
fn module_path(path: &Path) -> PathBuf {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("lib.rs" | "mod.rs") => path.with_file_name(""),
        _ => path.with_extension(""),
    }
}

/// Declared modules, each by the folder of its child modules.
#[derive(Default)]
struct Modules {
    code: BTreeSet<PathBuf>,
    tests: BTreeSet<PathBuf>,
}

impl Modules {
    /// Remove test code from the items of the module at `path`, and collect the modules declared.
    fn remove_tests(&mut self, items: &mut Vec<Item>, path: &Path) {
        items.retain_mut(|item| {
            let test = is_test(item);
            match item {
                Item::Mod(module) => {
                    let path = path.join(module.ident.unraw().to_string());
                    if let (false, Some((_, items))) = (test, &mut module.content) {
                        self.remove_tests(items, &path);
                    }
                    let modules = if test { &mut self.tests } else { &mut self.code };
                    modules.insert(path);
                }
                Item::Impl(block) => block.items.retain(|item: &ImplItem| !is_test(item)),
                Item::Trait(block) => block.items.retain(|item: &TraitItem| !is_test(item)),
                _ => {}
            }
            !test
        });
    }

    /// Return whether test code alone declares the module at `path` or one above it.
    fn only_tests_reach(&self, path: &Path) -> bool {
        path.ancestors().any(|module| self.tests.contains(module) && !self.code.contains(module))
    }
}

/// Return whether an item is a test or compiled for tests alone.
fn is_test(item: &impl ToTokens) -> bool {
    let attributes = |input: ParseStream| {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<TokenStream>()?;
        Ok(attributes)
    };
    // Kinds of items share no field for attributes, but all print their attributes first.
    attributes.parse2(item.to_token_stream()).is_ok_and(|attributes| {
        attributes.iter().any(|attribute| {
            attribute.path().is_ident("test")
                || attribute.path().is_ident("cfg") && attribute.parse_args().is_ok_and(|meta| needs_test(&meta))
        })
    })
}

/// Return whether a predicate of `cfg` holds in tests alone.
fn needs_test(predicate: &Meta) -> bool {
    let Meta::List(list) = predicate else {
        return predicate.path().is_ident("test");
    };
    let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        return false;
    };
    match list.path.get_ident() {
        Some(name) if name == "all" => parts.iter().any(needs_test),
        Some(name) if name == "any" => !parts.is_empty() && parts.iter().all(needs_test),
        _ => false,
    }
}

fn write_tokens(stream: TokenStream, code: &mut String) -> Result<(), String> {
    let tokens = Vec::from_iter(stream);
    let mut rest = tokens.as_slice();
    while let [token, after @ ..] = rest {
        if let Some(file) = named_file(rest) {
            return Err(format!(
                "`{file}` names a file outside the core hash, expected code alone: \
                 move the file's content into this source, or extend crates/core-hash"
            ));
        }
        if let Some(after) = skip_attribute(rest) {
            rest = after;
            continue;
        }
        rest = after;
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(\n", ")\n"),
                    Delimiter::Brace => ("{\n", "}\n"),
                    Delimiter::Bracket => ("[\n", "]\n"),
                    Delimiter::None => ("", ""),
                };
                code.push_str(open);
                write_tokens(group.stream(), code)?;
                code.push_str(close);
            }
            // No line break: `&&` must differ from `& &`.
            TokenTree::Punct(sign) if sign.spacing() == Spacing::Joint => code.push(sign.as_char()),
            TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => {
                code.push_str(&token.to_string());
                code.push('\n');
            }
        }
    }
    Ok(())
}

/// Macro or attribute at the start of `tokens`, if it names another file.
fn named_file(tokens: &[TokenTree]) -> Option<String> {
    if let [TokenTree::Ident(name), TokenTree::Punct(bang), TokenTree::Group(_), ..] = tokens {
        let is_named = bang.as_char() == '!' && ["include", "include_bytes", "include_str"].iter().any(|it| name == it);
        return is_named.then(|| format!("{name}!"));
    }
    let (attribute, _) = split_attribute(tokens)?;
    let is_path = matches!(syn::parse2(attribute), Ok(Meta::NameValue(meta)) if meta.path.is_ident("path"));
    is_path.then(|| "#[path]".into())
}

/// Tokens after the attribute at the start of `tokens`, if it is documentation or for tests.
fn skip_attribute(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    let (attribute, after) = split_attribute(tokens)?;
    let is_skipped = match attribute.clone().into_iter().next()? {
        TokenTree::Ident(name) if name == "doc" => true,
        TokenTree::Ident(name) if name == "cfg_attr" => syn::parse2::<MetaList>(attribute)
            .and_then(|list| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated))
            .is_ok_and(|arguments| arguments.first().is_some_and(needs_test)),
        _ => false,
    };
    is_skipped.then_some(after)
}

/// Content of the attribute at the start of `tokens`, and the tokens after it.
fn split_attribute(tokens: &[TokenTree]) -> Option<(TokenStream, &[TokenTree])> {
    let [TokenTree::Punct(sign), rest @ ..] = tokens else { return None };
    let rest = match rest {
        [TokenTree::Punct(bang), rest @ ..] if bang.as_char() == '!' => rest,
        _ => rest,
    };
    match rest {
        [TokenTree::Group(group), after @ ..] if sign.as_char() == '#' && group.delimiter() == Delimiter::Bracket => {
            Some((group.stream(), after))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(sources: &[(&str, &str)]) -> Files {
        code_of(&sources.iter().map(|(path, text)| (path.into(), (*text).into())).collect()).expect("Rust")
    }

    fn assert_same(one: &str, other: &str) {
        assert_eq!(code(&[("lib.rs", one)]), code(&[("lib.rs", other)]));
    }

    fn assert_other(one: &str, other: &str) {
        assert_ne!(code(&[("lib.rs", one)]), code(&[("lib.rs", other)]));
    }

    #[test]
    fn changed_comment_keeps_the_code() {
        assert_same("fn a() {} // One.", "fn a() { /* Two. */ }");
    }

    #[test]
    fn changed_doc_comment_keeps_the_code() {
        let bare = "struct A { b: u8 } macro_rules! m { () => { struct B; } }";
        assert_same(
            bare,
            "//! X.\n/// Y.\nstruct A { /** Z. */ b: u8 } macro_rules! m { () => { /// Y.\nstruct B; } }",
        );
        assert_same(bare, "#[doc(hidden)] struct A { #[doc = \"Z\"] b: u8 } macro_rules! m { () => { struct B; } }");
    }

    #[test]
    fn changed_whitespace_keeps_the_code() {
        assert_same("fn a(b: &'static str) -> u8 { b & &c }", "fn a( b:&'static str )->u8\n{\n\tb&\n& c }");
    }

    #[test]
    fn changed_test_code_keeps_the_code() {
        let bare = "mod a { fn b() {} } impl C { fn d() {} } trait E { fn f(); }";
        for test in [
            "#[cfg(test)] mod tests { fn x() {} }",
            "#[allow(unused)] #[cfg(test)] use x::{y, z};",
            "#[cfg(all(test, unix))] const X: u8 = 1;",
            "#[cfg(all(unix, any(test, all(test, windows))))] struct X;",
            "/// X.\n#[test] #[should_panic] fn x() {}",
        ] {
            assert_same(bare, &format!("{test} {bare}"));
            assert_same(bare, &bare.replace("fn b() {}", &format!("{test} fn b() {{}} {test}")));
        }
        for function in ["fn d() {}", "fn f();"] {
            assert_same(bare, &bare.replace(function, &format!("#[cfg(test)] fn x() {{}} {function}")));
        }
        assert_same("#[derive(Clone)] struct A;", "#[cfg_attr(test, derive(Debug))] #[derive(Clone)] struct A;");
    }

    #[test]
    fn code_outside_tests_counts() {
        for kept in ["cfg(not(test))", "cfg(any(test, unix))", "cfg(unix)", "cfg_attr(not(test), inline)", "inline"] {
            assert_other("fn a() {}", &format!("fn a() {{}} #[{kept}] fn b() {{}}"));
        }
    }

    #[test]
    fn changed_token_changes_the_code() {
        let code = "#[inline] fn a() -> f64 { b::<&'c str>(1.5, \"d\", 'e', f && g, vec![h >> 2]) }";
        for (from, to) in [
            ("inline", "inline(always)"),
            ("fn a", "fn b"),
            ("1.5", "1.50001"),
            ("\"d\"", "\"d \""),
            ("'e'", "'f'"),
            ("'c", "'d"),
            ("&&", "||"),
            ("&&", "& &"),
            ("(1.5", "(-1.5"),
            (">> 2", "> 2"),
            ("h >>", "(h) >>"),
            ("'e', f && g", "f && g, 'e'"),
        ] {
            let changed = code.replacen(from, to, 1);
            assert_other(code, &changed);
        }
    }

    #[test]
    fn slashes_in_a_string_are_no_comment() {
        assert_other("const A: &str = \"// a\";", "const A: &str = \"// b\";");
        assert_other("const A: &str = r#\"\" /* a */\"#;", "const A: &str = r#\"\" /* b */\"#;");
        assert_other("const A: &str = \"#[doc = 1] a\";", "const A: &str = \"a\";");
    }

    #[test]
    fn file_of_a_test_module_does_not_count() {
        let lib = "#[cfg(test)] mod t; mod a; #[cfg(test)] mod u { mod v; }";
        let bare = code(&[("lib.rs", lib), ("a.rs", "#[cfg(test)] mod w;")]);
        let with_tests = code(&[
            ("lib.rs", lib),
            ("a.rs", "#[cfg(test)] mod w;"),
            ("a/w/mod.rs", "fn x() {} mod y;"),
            ("a/w/y.rs", "fn x() {}"),
            ("t.rs", "fn x() {} mod y;"),
            ("t/y.rs", "fn x() {}"),
            ("u/v.rs", "fn x() {}"),
        ]);
        assert_eq!(with_tests, bare);
    }

    #[test]
    fn file_that_code_declares_too_counts() {
        let sources = [("lib.rs", "#[cfg(test)] mod a; #[cfg(not(test))] mod a;"), ("a.rs", "fn x() {}")];
        assert!(code(&sources).contains_key(Path::new("a.rs")));
    }

    #[test]
    fn file_that_no_module_declares_counts() {
        assert!(code(&[("lib.rs", ""), ("tests.rs", "")]).contains_key(Path::new("tests.rs")));
    }

    #[test]
    fn other_file_in_code_is_refused() {
        for text in ["const A: &str = include_str!(\"a.toml\");", "#[path = \"b.rs\"] mod a;"] {
            let refused = code_of(&Files::from([("lib.rs".into(), text.into())]));
            assert!(refused.is_err_and(|why| why.contains("lib.rs: `")), "{text}");
        }
        assert_same("", "#[cfg(test)] const A: &str = include_str!(\"a.toml\");");
    }

    #[test]
    fn source_that_is_not_rust_is_refused() {
        let refused = code_of(&Files::from([("lib.rs".into(), "fn".into())]));
        assert!(refused.is_err_and(|why| why.starts_with("lib.rs: ")));
    }
}

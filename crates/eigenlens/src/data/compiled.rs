//! Work on data that is compiled in this crate, for both element types, and nowhere else.

/// The body of a public function that is generic in its data's elements: compiles the work in this
/// crate, once for each of the two types (see [`Scalar::choose`](crate::Scalar)), and calls what fits the data.
/// `compiled_here!(Isomap, self.fit_typed(data) -> Result<EmbeddingModel>)`; further arguments follow
/// the data with their types. A result with the elements of the data is named by a `Typed`:
/// `compiled_here!(KernelPcaModel, self.transform_typed(data) -> Made of T)`.
macro_rules! compiled_here {
    ($of:ty, $me:ident.$work:ident($data:ident $(, $more:ident: $kind:ty)*) -> $out:ident of $t:ty) => {{
        #[inline(never)]
        fn single(
            me: &$of,
            data: &$crate::data::Dataset<f32>
            $(, $more: $kind)*
        ) -> <$out as $crate::scalar::Typed>::Of<f32> {
            me.$work(data $(, $more)*)
        }

        #[inline(never)]
        fn double(
            me: &$of,
            data: &$crate::data::Dataset<f64>
            $(, $more: $kind)*
        ) -> <$out as $crate::scalar::Typed>::Of<f64> {
            me.$work(data $(, $more)*)
        }

        <$t as $crate::scalar::Scalar>::choose::<$crate::data::Data, $out>(
            $data,
            |data| single($me, data $(, $more)*),
            |data| double($me, data $(, $more)*),
        )
    }};
    ($of:ty, $me:ident.$work:ident($data:ident $(, $more:ident: $kind:ty)*) -> $out:ty) => {{
        #[inline(never)]
        fn single(me: &$of, data: &$crate::data::Dataset<f32> $(, $more: $kind)*) -> $out {
            me.$work(data $(, $more)*)
        }

        #[inline(never)]
        fn double(me: &$of, data: &$crate::data::Dataset<f64> $(, $more: $kind)*) -> $out {
            me.$work(data $(, $more)*)
        }

        match $data.either() {
            $crate::data::Either::Single(data) => single($me, data $(, $more)*),
            $crate::data::Either::Double(data) => double($me, data $(, $more)*),
        }
    }};
}
pub(crate) use compiled_here;
